"""eckart worked, eckart exercise: solutions with every step, and new exercises with their keys."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eckart.cli.options import Output, output, talking
from eckart.cli.talk import Talk
from eckart.cli.worked_options import ABOUT, OPTIONS, SECOND

if TYPE_CHECKING:
    from eckart.worked.solution import Solution

FORMS = {".txt": "text", ".md": "markdown", ".tex": "latex"}
_LARGEST_FILE = 1_000_000
_form = click.option(
    "--as", "style", type=click.Choice(["text", "markdown", "latex"]), help="Form of the output.  [default: text]"
)


class Tasks(click.Group):
    """The solutions, in the order they are taught; kernel_pca is kernel-pca."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return super().get_command(ctx, name.replace("_", "-"))


@click.group(cls=Tasks, short_help="Solve a small problem exactly, with every step.")
def worked() -> None:
    """Solve a small problem exactly, with every step: fractions and roots, and the decimal beside them.

    MATRIX is text, with ';' or line breaks between rows: "1 2; 2 1". Entries are whole numbers, decimals, fractions
    (1/3) and roots (sqrt(2)). It may also be the name of a CSV file, or '-' for standard input.

    \b
    Examples:
      eckart worked pca "1 2; 2 1; 3 4; 4 3" --no-center
      eckart worked eigen "2 1; 3 2" --as latex -o eigen.tex
      eckart worked query "1 1 0; 2 2 0; 0 0 3" "4 0 0"
    """


def _task(name: str) -> click.Command:
    """One solution as a command: its matrix, perhaps a second argument, its own options, and the form."""

    @talking
    def run(talk: Talk, matrix: str, style: str | None, output: Output, **given: Any) -> None:
        from eckart import worked as solutions

        second = [_text(given.pop(SECOND[name].lower()))] if name in SECOND else []
        arguments = {key: value for key, value in given.items() if value is not None}
        _check(output)
        solution = getattr(solutions, name.replace("-", "_"))(_text(matrix), *second, **arguments)
        _give(talk, solution, style, output)

    command: Any = run
    for option in reversed([*OPTIONS.get(name, ()), _form, output("Write to FILE (.txt, .md, .tex).")]):
        command = option(command)
    if name in SECOND:
        command = click.argument(SECOND[name].lower(), metavar=SECOND[name])(command)
    command = click.argument("matrix")(command)
    sample = {"query": ' "1 0"', "select": ' "1 2 3"'}.get(name, "")
    matrix = "1 2; 2 1; 3 4" if name in {"pca", "svd", "minor-components", "select", "query", "rank"} else "2 1; 1 2"
    help = f'{ABOUT[name]}\n\n\b\nExample:\n  eckart worked {name} "{matrix}"{sample}'
    # A matrix may begin with a minus sign, which must not be taken for an option.
    settings = {"ignore_unknown_options": True}
    return click.command(name, help=help, short_help=ABOUT[name], context_settings=settings)(command)


for _name in ABOUT:
    worked.add_command(_task(_name))


@click.command(short_help="Make a new exercise whose answer is clean.")
@click.argument("task")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Which exercise.")
@click.option("--size", metavar="ROWSxCOLUMNS", help="Such as 4x2; 3 for a square matrix.")
@click.option("--key/--no-key", default=True, help="With the solution, or the question alone.  [default: with]")
@_form
@output("Write to FILE (.txt, .md, .tex).")
@talking
def exercise(talk: Talk, task: str, seed: int, size: str | None, key: bool, style: str | None, output: Output) -> None:
    """Make a new exercise whose answer is clean: whole numbers and simple roots. Each seed gives another one.

    \b
    Examples:
      eckart exercise pca --seed 7 --size 4x2
      eckart exercise eigen --seed 3 --no-key
    """
    from eckart.worked.exercises import exercise as make

    _check(output)
    made = make(task.replace("-", "_"), seed=seed, size=_size(size))
    _give(talk, made if key else made.question(), style, output)


def _size(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    match = re.fullmatch(r"\s*([0-9]{1,3})\s*(?:[x×,]\s*([0-9]{1,3}))?\s*", text)
    if match is None:
        raise click.UsageError(f"--size {text!r} is not a size: write it like 4x2.")
    return int(match[1]), int(match[2] or match[1])


def _text(given: str) -> str:
    """The text itself, that of a file of this name, or standard input."""
    if given == "-":
        return sys.stdin.read(_LARGEST_FILE)
    if len(given) < 500 and "\n" not in given and ";" not in given and Path(given).is_file():
        with Path(given).open(encoding="utf-8-sig", errors="replace") as file:
            return file.read(_LARGEST_FILE)
    return given


def _check(output: Output) -> None:
    if output.path:
        from eckart.cli import outputs

        outputs.check(output, tuple(FORMS))


def _give(talk: Talk, solution: Solution, style: str | None, output: Output) -> None:
    to_file = bool(output.path) and output.path != "-"
    style = style or (FORMS[Path(output.path).suffix.lower()] if to_file else "text")
    if talk.json:
        talk.document(solution=solution.document())
    if to_file:
        from eckart.cli import outputs
        from eckart.files import new_file

        with outputs.writing(), new_file(output.path, overwrite=output.force) as file:
            file.write(getattr(solution, style)().encode())
        talk.say(f"Written to {output.path}.")
    elif not talk.json and style == "text":
        from eckart.worked.terminal import show

        show(solution, file=sys.stdout)
    elif not talk.json:
        click.echo(getattr(solution, style)(), nl=False)
