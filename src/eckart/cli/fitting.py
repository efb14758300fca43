"""eckart report, fit, plan: what decomposes a table."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from eckart.cli.options import Output, Reading, Wanted, output, reading, talking, wanted
from eckart.cli.talk import Talk

if TYPE_CHECKING:
    from eckart.cli.tables import Source
    from eckart.decomposition import Decomposition, Plan

_ALL, _FEW = 20, 5
"""Without a word on the number of axes: all of them on tables with a side of at most 20, else five."""
_MOST_SCORES = 20_000_000
"""Scores are kept for the picture of the rows up to this many numbers."""


@dataclass(frozen=True)
class Fitted:
    """A decomposition and what came up on the way to it."""

    name: str
    d: Decomposition
    warnings: list[str]


@click.command(short_help="Summary in the terminal, and a page with pictures.")
@click.argument("data")
@wanted
@output("The page. '-' for standard output.", default="report.html", show_default=True)
@click.option("--title", metavar="TEXT", help="Title of the page.")
@reading
@talking
def report(talk: Talk, data: str, wanted: Wanted, reading: Reading, output: Output, title: str | None) -> None:
    """Summary of DATA in the terminal, and a page with pictures: what the axes carry, mean, and how sure that is.

    DATA is a CSV, TSV, Parquet, Arrow, NumPy or Matrix Market file, or '-'.

    \b
    Examples:
      eckart report usarrests.csv --scale
      eckart report ratings.csv --method svd -k 2 -o ratings.html
    """
    from eckart.cli import outputs
    from eckart.views.report import report as write_page

    outputs.check(output)
    found = _fitted(talk, data, wanted, reading, left=True)
    to_file = output.path != "-"
    title = title or f"{_method(found.d)} of {found.name}"
    with talk.status("Writing the page"), outputs.writing():
        page = write_page(found.d, output.path if to_file else None, overwrite=output.force, title=title)
    if not to_file and not talk.json:
        sys.stdout.buffer.write(page.encode("utf-8"))
    _told(talk, found, report=output.path if to_file else None, page=None if to_file else page)
    if to_file:
        talk.say(f"The page is {output.path}.")


@click.command(short_help="Decompose a table and save the axes as a model.")
@click.argument("data")
@wanted
@output("The model, such as model.eckart.", required=True)
@click.option("--keep-rows", is_flag=True, help="Keep the coordinates of the rows too, for 'similar' and 'query'.")
@reading
@talking
def fit(talk: Talk, data: str, wanted: Wanted, reading: Reading, output: Output, keep_rows: bool) -> None:
    """Decompose DATA and save the axes as a model, for 'transform' and 'reconstruct'.

    \b
    Example:
      eckart fit usarrests.csv --scale -k 2 -o arrests.eckart
    """
    from eckart.cli import documents, outputs
    from eckart.cli.app import Refused
    from eckart.views import sentences

    if output.path == "-":
        raise Refused("A model is not text: name a file with -o, such as model.eckart.")
    outputs.check(output)
    found = _fitted(talk, data, wanted, reading, left=keep_rows)
    with outputs.writing():
        found.d.save(output.path, overwrite=output.force)
    if talk.json:
        content = documents.of_decomposition(found.d)
        talk.document(data=found.name, **content, warnings=found.warnings, model=output.path)
        return
    talk.say_all(sentences.doubts(found.d))
    talk.say(f"{sentences.what(found.d)} {sentences.carried(found.d)}")
    talk.say(f"The model is {output.path}.")


@click.command(short_help="Solver, reads and memory, before anything is done.")
@click.argument("data")
@wanted
@reading
@talking
def plan(talk: Talk, data: str, wanted: Wanted, reading: Reading) -> None:
    """What 'report' and 'fit' would do with DATA: solver, reads of the data, memory, and why. Computes nothing.

    \b
    Example:
      eckart plan usarrests.csv --explain 90%
    """
    from eckart.cli import documents
    from eckart.cli.tables import read
    from eckart.verbs import plan as make_plan

    with talk.status(f"Reading {data}"):
        source = read(data, reading)
    asked, notes = _asked(source, wanted)
    made = make_plan(source, wanted.method, **asked)  # type: ignore[arg-type]
    notes = [*source.about.notes, *notes]
    if talk.json:
        talk.document(data=source.about.name, plan=documents.of_plan(made), notes=notes)
        return
    talk.say_all(notes)
    click.echo(_plan_text(made, talk.width))


def _fitted(talk: Talk, data: str, wanted: Wanted, reading: Reading, *, left: bool) -> Fitted:
    from eckart.cli.tables import gaps, read
    from eckart.errors import MissingValuesError
    from eckart.verbs import decompose

    with talk.status(f"Reading {data}"):
        source = read(data, reading)
    asked, notes = _asked(source, wanted)
    rows, columns = source.shape
    left = left and rows * (wanted.k or asked.get("k") or min(rows, columns)) <= _MOST_SCORES
    with talk.warnings() as warned, talk.status(f"Decomposing {rows:,} rows x {columns:,} columns"):
        try:
            d = decompose(source, wanted.method, left=left, rng=wanted.seed, **asked)  # type: ignore[arg-type]
        except MissingValuesError as error:
            raise gaps(source, error) from error
    return Fitted(source.about.name, replace(d, notes=(*d.notes, *notes)), warned)


def _asked(source: Source, wanted: Wanted) -> tuple[dict[str, Any], list[str]]:
    """The arguments of decompose, and a word on the number of axes when it was chosen here."""
    asked: dict[str, Any] = {"scale": wanted.scale, "which": wanted.which, "memory": wanted.memory}
    if wanted.missing != "error":
        asked["missing"] = wanted.missing
    for name in ("k", "explain", "error"):
        if getattr(wanted, name) is not None:
            return {**asked, name: getattr(wanted, name)}, []
    most = min(source.shape)
    if most <= _ALL:
        kept = {1: "the only one is", 2: "both are"}.get(most, f"all {most} are")
        return {**asked, "k": most}, [f"No number of axes was asked for, so {kept} kept."]
    note = (
        f"No number of axes was asked for, so {_FEW} of {most:,} are computed; -k, --explain or --error ask for others."
    )
    return {**asked, "k": _FEW}, [note]


def _told(talk: Talk, found: Fitted, *, report: str | None, page: str | None) -> None:
    """The summary: on standard output, unless the page itself goes there."""
    from eckart.cli import documents
    from eckart.views.summary import renderable, summary

    stream = sys.stdout if page is None else sys.stderr
    if talk.json:
        content = documents.of_decomposition(found.d)
        more = {} if page is None else {"page": page}
        talk.document(data=found.name, **content, warnings=found.warnings, report=report, **more)
    elif page is not None and talk.quiet:
        return
    elif stream.isatty():
        talk.show(renderable(found.d, width=talk.width), stream)
    else:
        click.echo(summary(found.d, width=talk.width), file=stream, nl=False)


def _method(d: Decomposition) -> str:
    from eckart.views.words import method_name

    return method_name(d)


def _plan_text(made: Plan, width: int) -> str:
    import textwrap

    from eckart.sources.limits import say_bytes

    axes = "as many as the target needs" if made.k is None else f"{made.k:,}"
    lines = {
        "method": f"{made.method} of {made.rows:,} rows x {made.columns:,} columns",
        "axes": axes,
        "settings": ", ".join(f"{name}={value}" for name, value in made.settings.items()),
        "solver": made.solver,
        "reads": f"about {made.reads}",
        "memory": f"{say_bytes(made.peak_bytes)} beside the data",
        "why": made.why,
    }
    wrapped = (
        textwrap.fill(text, width, initial_indent=f"{name:<10}", subsequent_indent=" " * 10)
        for name, text in lines.items()
    )
    return "\n".join(wrapped)
