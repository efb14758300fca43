"""eckart report: the main job. A summary in the terminal, and a page with pictures; or the same as Markdown or JSON."""

from __future__ import annotations

import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from eckart.cli.console import Console
from eckart.cli.execution import ExecutionOptions, execution
from eckart.cli.fitting import Fitted, fitted
from eckart.cli.options import FitOptions, Output, ReadingOptions, output, reading, wanted, with_console
from eckart.cli.tuning import TAKEN, Tuning, tuning
from eckart.registry import SHARED_OPTIONS, Method, all_methods, get_method

if TYPE_CHECKING:
    from eckart.analysis.report.contents import ReportContext
    from eckart.text import Table

_MOST_CELLS = 100_000
"""Up to here every rule on the number of axes is asked; some of them draw many tables."""
_SHORT_SIDE = 3000
"""Up to here all axes are cheap to find; beyond, the rules see those that were asked for."""


@click.command(short_help="Summary in the terminal, and a page with pictures.")
@click.argument("data")
@wanted
@output("The page; Markdown where FILE ends in .md. '-' for standard output.", default="report.html", show_default=True)
@click.option("--title", metavar="TEXT", help="Title of the page.")
@click.option("--markdown", is_flag=True, help="Print the report as Markdown instead of the summary.")
@tuning
@execution
@reading
@with_console
def report(
    console: Console, data: str, wanted: FitOptions, reading: ReadingOptions, execution: ExecutionOptions,
    output: Output, title: str | None, markdown: bool, tuning: Tuning,
) -> None:  # fmt: skip
    """Summary of DATA in the terminal, and a page with pictures: what the axes carry, mean, and how sure that is.

    DATA is a CSV, TSV, Parquet, Arrow, NumPy or Matrix Market file, or '-'.

    \b
    Examples:
      eckart report usarrests.csv --scale
      eckart report ratings.csv --method svd -k 2 -o ratings.html
    """
    from eckart.cli import outputs

    if markdown and console.json:
        raise click.UsageError("--markdown and --json exclude each other: both go to standard output.")
    if markdown and output.path == "-":
        raise click.UsageError("--markdown goes to standard output already; with it -o names the page's file.")
    outputs.check(output)
    found = fitted(console, data, wanted, reading, execution, tuning, left=True)
    context = _context(console, found, wanted, tuning)
    title = title or f"{_method(found)} of {found.name}"
    page = _written(console, found, context, output, title)
    if output.path == "-" and not console.json:
        sys.stdout.buffer.write(page.encode("utf-8"))
    if markdown:
        from eckart.analysis.report.markdown import markdown as as_markdown

        click.echo(as_markdown(found.d, context, title), nl=False)
    else:
        _tell(console, found, context, _next(data, found, wanted, tuning), output, page)
    if output.path != "-":
        console.say(f"The page is {output.path}.")


def _context(console: Console, found: Fitted, wanted: FitOptions, tuning: Tuning) -> ReportContext:
    """What the page says beside the decomposition: the reading, the columns, how many axes by each rule."""
    from eckart.analysis.report.contents import ReportContext
    from eckart.analysis.unusual import unusual
    from eckart.cli.treated import columns_table

    metadata = found.source.metadata
    data = getattr(found.source, "matrix", None)
    ranks = None if tuning.weights is not None else _ranks(console, found, wanted)  # the rules know no weights
    return ReportContext(metadata.decided, data, columns_table(found.source, found.d), ranks, unusual(found.d, data))


def _ranks(console: Console, found: Fitted, wanted: FitOptions) -> Table | None:
    """How many axes each rule wants; of a large table those that need no drawing of other tables."""
    from dataclasses import replace

    from eckart.analysis.report.contents import rank_table
    from eckart.errors import EckartError
    from eckart.rank.choose import choose_rank

    if not get_method(wanted.method).orthogonal or wanted.which == "smallest":
        return None
    rows, columns = found.source.shape
    small = rows * columns <= _MOST_CELLS
    asked: dict[str, Any] = {"rng": wanted.seed, "memory": wanted.memory}
    if min(rows, columns) <= _SHORT_SIDE:
        asked |= {"method": wanted.method, "scale": wanted.scale, "missing": wanted.missing}
    with console.status("Asking how many axes"), console.warnings():
        try:
            given = found.source if "method" in asked else found.d
            choice = choose_rank(given, "all" if small else "quick", **asked)
        except EckartError as error:
            console.say(f"Note: How many axes could not be asked: {error}")
            return None
    made = rank_table(choice)
    left = "Rules that draw or hold out tables take longer: 'eckart rank' asks them too."
    return made if small or made is None else replace(made, caption=f"{made.caption} {left}")


def _written(console: Console, found: Fitted, context: ReportContext, output: Output, title: str) -> str:
    from eckart.analysis.report.page import write
    from eckart.cli import outputs

    path = None if output.path == "-" else output.path
    with console.status("Writing the page"), outputs.writing():
        return write(found.d, context, title, found.source.metadata.labels, path, overwrite=output.force)


def _tell(console: Console, found: Fitted, context: ReportContext, steps: list[str], output: Output, page: str) -> None:
    """The summary: on standard output, unless the page itself goes there."""
    from eckart.analysis.summary import renderable, summary
    from eckart.cli import documents

    to_file = output.path != "-"
    stream = sys.stdout if to_file else sys.stderr
    if console.json:
        content = documents.of_decomposition(found.d) | documents.of_report(found.d, context)
        where: dict[str, Any] = {"report": output.path} if to_file else {"report": None, "page": page}
        console.document(data=found.name, **content, warnings=found.warnings, **where)
    elif not to_file and console.quiet:
        return
    elif stream.isatty():
        console.show(renderable(found.d, width=console.width, context=context, steps=steps), stream)
    else:
        click.echo(summary(found.d, width=console.width, context=context, steps=steps), file=stream, nl=False)


def _next(data: str, found: Fitted, wanted: FitOptions, tuning: Tuning) -> list[str]:
    """Commands that may come next, ready to be typed."""
    if data == "-":
        return []
    file = _quoted(data)
    asked = f" --method {wanted.method}" * (wanted.method != "pca") + " --scale" * wanted.scale
    asked += f" --missing {wanted.missing}" * (wanted.missing != "error") + tuning.typed()
    units = any("nothing was scaled" in note for note in found.d.notes)
    steps = [f"eckart report {file}{asked} --scale -o scaled.html"] if units else []
    steps.append(f"eckart fit {file}{asked} -k {min(found.d.k, 2)} -o model.eckart")
    return [*steps, f"eckart transform model.eckart {file} -o scores.csv"]


def _quoted(path: str) -> str:
    """A path to be typed in a shell; characters that steer a terminal are written as escapes, in quotes of Bash."""
    import shlex

    if path.isprintable():
        return shlex.quote(path)
    return "$'" + path.encode("unicode_escape").decode("ascii").replace("'", "\\'") + "'"


def _method(found: Fitted) -> str:
    from eckart.analysis.labels import method_name

    return method_name(found.d)


def short_form(method: Method) -> click.Command:
    """`eckart METHOD DATA`: report --method METHOD, with the options that have a meaning for it."""
    special = {field.name for field in fields(Tuning)} - set(TAKEN.get(method.name, ()))
    hidden = {"method"} | special | (set(SHARED_OPTIONS) - method.takes)
    defaults = {name: getattr(FitOptions, name, None) for name in hidden} | {"method": method.name}

    def call(**given: Any) -> Any:
        assert report.callback is not None
        return report.callback(**defaults, **given)

    name = method.name.replace("_", "-")
    short = f"{method.title}: summary and page."
    params = [param for param in report.params if param.name not in hidden]
    text = f"{short} The same as 'eckart report --method {name}'."
    return click.Command(name, callback=call, params=params, help=text, short_help=short)


short_forms = [short_form(method) for method in all_methods().values()]
