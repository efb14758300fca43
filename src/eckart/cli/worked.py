"""eckart worked: solutions with every step."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eckart.cli.app import standard_input
from eckart.cli.console import Console
from eckart.cli.options import Decorator, Output, output, with_console
from eckart.cli.worked_options import ABOUT, OPTIONS, SECOND

if TYPE_CHECKING:
    from eckart.worked.solution import Solution

FORMS = {".txt": "text", ".md": "markdown", ".tex": "latex", ".html": "html", ".pdf": "pdf"}
_LARGEST_FILE = 1_000_000
WRITE = "Write the output to FILE (.txt, .md, .tex, .html, .pdf)."
form = click.option(
    "--as",
    "style",
    type=click.Choice(["text", "markdown", "latex", "html"]),
    help="Output format.  [default: text]",
)
lang = click.option(
    "--lang",
    type=click.Choice(["en", "it", "es", "ru"]),
    help="Output language.  [default: the language of your system, or en]",
)
detail: Decorator = click.option(
    "--detail", type=click.Choice(["brief", "normal", "full"]), default="normal", show_default=True,
    help="How many intermediate steps to show.",
)  # fmt: skip


class Tasks(click.Group):
    """The solutions in teaching order; kernel_pca is spelled kernel-pca."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return super().get_command(ctx, name.replace("_", "-"))


@click.group(cls=Tasks, short_help="Solve a small problem exactly and show every step.")
def worked() -> None:
    """Solve a small problem exactly and show every step. Results are exact (fractions and roots), with
    decimal values alongside.

    MATRIX is text, with ';' or line breaks between rows: "1 2; 2 1". Entries are whole numbers, decimals, fractions
    (1/3) and roots (sqrt(2)). MATRIX may also be the name of a CSV file, or '-' for standard input.

    \b
    Examples:
      eckart worked pca "1 2; 2 1; 3 4; 4 3" --no-center
      eckart worked eigen "2 1; 3 2" --detail full -o eigen.html
      eckart worked query "1 1 0; 2 2 0; 0 0 3" "4 0 0"
    """


def _task(name: str) -> click.Command:
    """One solution as a command: its matrix, a second argument if needed, its own options, and the format."""

    @with_console
    def run(
        console: Console, matrix: str, style: str | None, lang: str | None, detail: str, output: Output, **given: Any
    ) -> None:
        from eckart import worked as solutions
        from eckart.worked.messages import preferred

        with solutions.language(lang or preferred()):
            second = [_text(given.pop(SECOND[name].lower()))] if name in SECOND else []
            arguments = {key: value for key, value in given.items() if value is not None}
            check(output)
            solution = getattr(solutions, name.replace("-", "_"))(_text(matrix), *second, **arguments)
            give(console, solution.at(detail), style, output)

    command: Any = run
    for option in reversed([*OPTIONS.get(name, ()), form, lang, detail, output(WRITE)]):
        command = option(command)
    if name in SECOND:
        command = click.argument(SECOND[name].lower(), metavar=SECOND[name])(command)
    command = click.argument("matrix")(command)
    sample = {"query": ' "1 0"', "select": ' "1 2 3"', "project": ' "2 3"'}.get(name, "")
    tall = {"pca", "svd", "minor-components", "select", "query", "rank", "project", "correlation", "isomap"}
    matrix = "1 2; 2 ?; 3 6; 4 8" if name == "missing" else "1 2; 2 1; 3 4" if name in tall else "2 1; 1 2"
    help = f'{ABOUT[name]}\n\n\b\nExample:\n  eckart worked {name} "{matrix}"{sample}'
    # A matrix may begin with a minus sign, which click must not take for an option.
    settings = {"ignore_unknown_options": True}
    return click.command(name, help=help, short_help=ABOUT[name], context_settings=settings)(command)


for _name in ABOUT:
    worked.add_command(_task(_name))


def _text(given: str) -> str:
    """The given text, the content of a file of this name, or standard input."""
    from eckart.worked.messages import tr

    if given == "-":
        return standard_input().read(_LARGEST_FILE)
    if re.fullmatch(r"[^;\n]*[A-Za-z_][^;\n]*\.(?:csv|tsv|txt|dat)", given) and not Path(given).exists():
        raise click.UsageError(tr("The file {name} does not exist. Check the name and the folder.", name=given))
    if len(given) < 500 and "\n" not in given and ";" not in given and Path(given).is_file():
        with Path(given).open(encoding="utf-8-sig", errors="replace") as file:
            return file.read(_LARGEST_FILE)
    return given


def check(output: Output) -> None:
    """Check whether the file may be written, before computing anything."""
    if output.path:
        from eckart.cli import outputs

        outputs.check(output, tuple(FORMS))


def give(console: Console, solution: Solution, style: str | None, output: Output) -> None:
    """Write the result, print it, or put it into a JSON document."""
    to_file = bool(output.path) and output.path != "-"
    style = style or (FORMS[Path(output.path).suffix.lower()] if to_file else "text")
    if console.json:
        console.document(solution=solution.document())
    if to_file:
        from eckart.cli import outputs
        from eckart.files import new_file
        from eckart.worked.messages import tr

        with outputs.writing(), new_file(output.path, overwrite=output.force) as file:
            written = getattr(solution, style)()
            file.write(written if isinstance(written, bytes) else written.encode())
        console.say(tr("Written to {path}.", path=output.path))
    elif not console.json and style == "text":
        from eckart.worked.terminal import show

        show(solution, file=sys.stdout)
    elif not console.json:
        click.echo(getattr(solution, style)(), nl=False)
