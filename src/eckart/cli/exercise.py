"""eckart exercise: new exercises, sheets for a class, and checked answers."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eckart.aliases import Keywords
from eckart.cli.console import Console
from eckart.cli.options import Output, count_option, gathered, output, with_console
from eckart.cli.worked import WRITE, check, detail, form, give, lang

if TYPE_CHECKING:
    from eckart.worked.exercises.exercise import Exercise
    from eckart.worked.exercises.sheet import Sheet

_WRONG = 3
"""Exit code of --check for a wrong answer."""


@dataclass(frozen=True)
class SheetOptions:
    """A file of questions: how many, with or without seeds, and for whom."""

    count: int
    sheet: str | None
    seeds: bool
    names: str | None

    def is_several(self, kinds: list[str]) -> bool:
        return self.count > 1 or self.names is not None or len(kinds) > 1


_sheet_options = gathered("paper", SheetOptions, [
    click.option("--count", type=click.IntRange(1, 100), default=1, metavar="N",
                 help="Number of exercises of each kind.  [default: 1]"),
    click.option("--sheet", metavar="FILE",
                 help="Write the questions to FILE (.html, .pdf, .tex, .md, .txt) and the answers to a second file."),
    click.option("--seeds/--no-seeds", default=True,
                 help="Print the seed of each exercise, which you need for --check.  [default: yes]"),
    click.option("--class", "names", metavar="FILE",
                 help=("Write one sheet per student. FILE is a text file with one name per line, or a CSV "
                 "file.")),
])  # fmt: skip


@click.command(short_help="Generate exercises with simple exact answers, or check an answer.")
@click.argument("kind", metavar="[KIND]", default="")
@click.option(
    "--list", "listing", is_flag=True, help="List the kinds of exercise and the criteria of each kind, and exit."
)
@count_option("--seed", 0, 0, "Seed that selects the exercise.")
@count_option("--difficulty", 1, 1, "Difficulty, from 1 (easy) to 3 (hard).", most=3)
@click.option("--size", metavar="ROWSxCOLUMNS", help="Size of the matrix, such as 4x2. A single number n means n x n.")
@click.option("--key/--no-key", default=True, help="Print the solution after the exercise.  [default: yes]")
@click.option(
    "--check",
    "answer",
    metavar="ANSWER",
    help='Check an answer, such as "3, 1". The exit code is 3 if the answer is wrong.',
)
@_sheet_options
@form
@lang
@detail
@output(WRITE)
@with_console
def exercise(console: Console, kind: str, listing: bool, answer: str | None, key: bool, paper: SheetOptions,
             style: str | None, lang: str | None, detail: str, output: Output, **wanted: Any) -> None:  # fmt: skip
    """Generate an exercise with a simple exact answer. Each seed gives a different exercise.

    KIND is a kind of exercise, a list of kinds such as eigen,svd, or 'all'.

    \b
    Examples:
      eckart exercise pca --seed 7 --no-key
      eckart exercise determinant --seed 7 --check "2"
      eckart exercise eigen,svd --count 4 --difficulty 2 --sheet exam.html
      eckart exercise rank --sheet exam.tex --class students.txt
    """
    from eckart import worked
    from eckart.worked.messages import preferred, tr

    with worked.language(lang or preferred()):
        wanted["size"] = _size(wanted["size"])
        kinds = _kinds(kind)
        if listing or not kinds:
            _list(console)
        elif paper.sheet:
            if answer is not None:
                raise click.UsageError(
                    tr("--check and --sheet cannot be combined. Check one exercise at a time, with --seed and --check.")
                )
            _sheets(console, kinds, paper, output.force, detail, wanted)
        elif paper.is_several(kinds):
            raise click.UsageError(tr("Several exercises are written to a file, not printed. Add --sheet exam.html."))
        else:
            check(output)
            made = worked.exercise(kinds[0], **wanted)
            if answer is not None:
                _verdict(console, made, answer)
            else:
                give(console, (made if key else made.question()).at(detail), style, output)


def _kinds(text: str) -> list[str]:
    from eckart.worked.exercises import KINDS

    return (
        list(KINDS) if text == "all" else [word.strip().replace("-", "_") for word in text.split(",") if word.strip()]
    )


def _list(console: Console) -> None:
    from eckart.worked.exercises import KINDS
    from eckart.worked.messages import tr

    if console.json:
        console.document(kinds=[{"kind": name, "criteria": [words for words, _ in kind.criteria]} for name, kind in
                             KINDS.items()])  # fmt: skip
        return
    for name, kind in KINDS.items():
        click.echo(name.replace("_", "-"))
        for words, _ in kind.criteria:
            click.echo(textwrap.fill(tr(words), console.width, initial_indent="    ", subsequent_indent="    "))


def _verdict(console: Console, made: Exercise, answer: str) -> None:
    verdict = made.check(answer)
    if console.json:
        console.document(status=verdict.status, message=verdict.message)
    else:
        click.echo(verdict.message)
    if verdict.status != "right":
        raise click.exceptions.Exit(_WRONG)


def _sheets(
    console: Console, kinds: list[str], paper: SheetOptions, force: bool, detail: str, wanted: Keywords
) -> None:
    from eckart.worked.exercises.class_list import file_words
    from eckart.worked.exercises.sheet import FORMS, series, sheet
    from eckart.worked.messages import tr

    file = Path(paper.sheet or "")
    style = FORMS.get(file.suffix.lower())
    if style is None:
        raise click.UsageError(
            tr("--sheet {path}: the name must end in {forms}.", path=paper.sheet, forms=", ".join(FORMS))
        )
    wanted = {**wanted, "count": paper.count, "seeds": paper.seeds}
    if paper.names is None:
        _write(console, replace(sheet(kinds, **wanted), detail=detail), file, style, force)
        return
    made = series(_students(paper.names), kinds, **wanted)
    for one, word in zip(made, file_words([one.student for one in made]), strict=True):
        own = file.with_name(f"{file.stem}-{word}{file.suffix}")
        _write(console, replace(one, detail=detail), own, style, force)


def _students(path: str) -> list[str]:
    """The names of a class list."""
    from eckart.worked.exercises import class_list
    from eckart.worked.messages import tr

    try:
        return class_list.names(class_list.decoded(Path(path).read_bytes()))
    except OSError as error:
        message = tr("--class {path} cannot be read ({reason}). Use a text file with one name per line.", path=path,
                     reason=error.strerror)  # fmt: skip
        raise click.UsageError(message) from None


def _write(console: Console, made: Sheet, file: Path, style: str, force: bool) -> None:
    from eckart.cli import outputs
    from eckart.files import new_file
    from eckart.worked.messages import tr

    paths = (file, file.with_name(f"{file.stem}-key{file.suffix}"))
    for path, content in zip(paths, made.files(style), strict=True):
        with outputs.writing(), new_file(str(path), overwrite=force) as opened:
            opened.write(content)
        console.say(tr("Written to {path}.", path=path))


def _size(text: str | None) -> tuple[int, int] | None:
    from eckart.worked.messages import tr

    if text is None:
        return None
    match = re.fullmatch(r"\s*([0-9]{1,3})\s*(?:[x×,]\s*([0-9]{1,3}))?\s*", text)
    if match is None:
        raise click.UsageError(tr("--size {text} is not a size. Write a size such as 4x2.", text=repr(text)))
    return int(match[1]), int(match[2] or match[1])
