"""eckart fit, plan: what decomposes a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from eckart.cli.console import Console
from eckart.cli.execution import ExecutionOptions, execution
from eckart.cli.options import FitOptions, Output, ReadingOptions, output, reading, wanted, with_console
from eckart.cli.tables import Source
from eckart.cli.tuning import Tuning, tuning
from eckart.registry import get_method

if TYPE_CHECKING:
    from eckart.result import Decomposition, Plan

_ALL, _FEW = 20, 5
"""Without a word on the number of axes: all of them on tables with a side of at most 20, else five."""
_MOST_SCORES = 20_000_000
"""Scores are kept for the picture of the rows up to this many numbers."""


@dataclass(frozen=True)
class Fitted:
    """A decomposition and what came up on the way to it."""

    source: Source
    d: Decomposition
    warnings: list[str]

    @property
    def name(self) -> str:
        return str(self.source.metadata.name)


@click.command(short_help="Decompose a table and save the axes as a model.")
@click.argument("data")
@wanted
@output("The model, such as model.eckart.", required=True)
@click.option("--keep-rows", is_flag=True, help="Keep the coordinates of the rows too, for 'similar' and 'query'.")
@tuning
@execution
@reading
@with_console
def fit(
    console: Console, data: str, wanted: FitOptions, reading: ReadingOptions, execution: ExecutionOptions,
    output: Output, keep_rows: bool, tuning: Tuning,
) -> None:  # fmt: skip
    """Decompose DATA and save the axes as a model, for 'transform' and 'reconstruct'.

    \b
    Example:
      eckart fit usarrests.csv --scale -k 2 -o arrests.eckart
    """
    from eckart.analysis import sentences
    from eckart.cli import documents, outputs
    from eckart.cli.app import Refused

    if output.path == "-":
        raise Refused("A model is not text: name a file with -o, such as model.eckart.")
    outputs.check(output)
    found = fitted(console, data, wanted, reading, execution, tuning, left=keep_rows)
    with outputs.writing():
        found.d.save(output.path, overwrite=output.force)
    if console.json:
        content = documents.of_decomposition(found.d)
        console.document(data=found.name, **content, warnings=found.warnings, model=output.path)
        return
    console.say_all(sentences.doubts(found.d))
    console.say(f"{sentences.what(found.d)} {sentences.carried(found.d)}")
    console.say(f"The model is {output.path}.")


@click.command(short_help="Solver, reads and memory, before anything is done.")
@click.argument("data")
@wanted
@reading
@with_console
def plan(console: Console, data: str, wanted: FitOptions, reading: ReadingOptions) -> None:
    """What 'report' and 'fit' would do with DATA: solver, reads of the data, memory, and why. Computes nothing.

    \b
    Example:
      eckart plan usarrests.csv --explain 90%
    """
    from eckart.api import plan as make_plan
    from eckart.cli import documents
    from eckart.cli.tables import read

    with console.status(f"Reading {data}"):
        source = read(data, reading, memory=wanted.memory)
    asked, notes = _asked(source, wanted)
    made = make_plan(source, wanted.method, **asked)
    notes = [*source.metadata.notes, *notes]
    if console.json:
        console.document(data=source.metadata.name, plan=documents.of_plan(made), notes=notes)
        return
    console.say_all(notes)
    click.echo(_plan_text(made, console.width))


def fitted(
    console: Console,
    data: str,
    wanted: FitOptions,
    reading: ReadingOptions,
    execution: ExecutionOptions,
    tuning: Tuning,
    *,
    left: bool,
) -> Fitted:
    from eckart.api import decompose
    from eckart.cli.execution import working
    from eckart.cli.tables import gaps, read, weighted
    from eckart.errors import MissingValuesError

    special = tuning.arguments(wanted.method)
    with console.status(f"Reading {data}"):
        source = read(data, reading, memory=wanted.memory, stream=execution.asked)
    if "sample_weight" in special:
        source, special["sample_weight"] = weighted(source, special["sample_weight"])
    asked, notes = _asked(source, wanted, special)
    if special.pop("scan", False):
        notes += _scanned(console, source, asked["k"], special)
    asked |= special
    rows, columns = source.shape
    left = left and rows * (wanted.k or asked.get("k") or min(rows, columns)) <= _MOST_SCORES
    what = f"Decomposing {rows:,} rows x {columns:,} columns"
    with console.warnings() as warned, working(console, source, wanted.method, execution, what) as more:
        try:
            d = decompose(source, get_method(wanted.method), left=left, rng=wanted.seed, **asked, **more)
        except MissingValuesError as error:
            raise gaps(source, error, get_method(wanted.method).missing) from error
    return Fitted(source, replace(d, notes=(*d.notes, *notes)), warned)


def _scanned(console: Console, source: Source, k: int, special: dict[str, Any]) -> list[str]:
    """Put the best kernel and width into `special`, and say which."""
    from eckart.cli.app import Refused
    from eckart.kernel_pca.scan_kernels import scan_kernels

    if not hasattr(source, "matrix"):
        raise Refused("--scan needs the table in memory, and this one is read in blocks. Name a --kernel instead.")
    kernels: dict[str, Any] = {"kernels": (special["kernel"],)} if "kernel" in special else {}
    with console.status("Trying kernels"), console.warnings():
        best = scan_kernels(source.matrix, n_components=k, **kernels).best
    special["kernel"] = best.kernel
    if best.gamma is not None:
        special["gamma"] = best.gamma
    width = "" if best.gamma is None else f" with gamma {best.gamma:.4g}"
    return [f"Of the kernels that were tried, {best.kernel}{width} predicts rows that were left out best."]


def _asked(
    source: Source, wanted: FitOptions, special: dict[str, Any] | None = None
) -> tuple[dict[str, Any], list[str]]:
    """The arguments of decompose, and a word on the number of axes when it was chosen here."""
    method = get_method(wanted.method)
    asked: dict[str, Any] = {name: getattr(wanted, name) for name in ("scale", "which") if name in method.takes}
    if wanted.memory is not None:
        asked["memory"] = wanted.memory
    if wanted.missing != "error":
        asked["missing"] = wanted.missing
    for name in ("k", "explain", "error"):
        if getattr(wanted, name) is not None:
            return {**asked, name: getattr(wanted, name)}, []
    most = min(source.shape)
    if method.default_k is not None:
        counts = [(special or {}).get(name) for name in ("n_columns", "n_rows")]
        k = min([most, method.default_k, *(count for count in counts if count)])
        return {**asked, "k": k}, [f"No number of axes was asked for, so {k} are computed; -k asks for others."]
    if most <= _ALL and wanted.method == "pca":
        most = _defaults(source)
    if most <= _ALL:
        kept = {1: "the only one is", 2: "both are"}.get(most, f"all {most} are")
        return {**asked, "k": most}, [f"No number of axes was asked for, so {kept} kept."]
    note = (
        f"No number of axes was asked for, so {_FEW} of {most:,} are computed; -k, --explain or --error ask for others."
    )
    return {**asked, "k": _FEW}, [note]


def _defaults(source: Source) -> int:
    """How many axes can carry variance: no more than columns that vary, and one less than rows."""
    rows, columns = source.shape
    columns = int(columns)
    if not source.sparse and hasattr(source, "matrix") and rows * columns <= _MOST_SCORES:
        matrix = source.matrix
        columns = int((matrix.max(axis=0) != matrix.min(axis=0)).sum())
    return max(1, min(int(rows) - 1, columns))


def _plan_text(made: Plan, width: int) -> str:
    import textwrap

    from eckart.environment import say_bytes

    components = "as many as the target needs" if made.k is None else f"{made.k:,}"
    lines = {
        "method": f"{made.method} of {made.rows:,} rows x {made.columns:,} columns",
        "components": components,
        "settings": ", ".join(f"{name}={value}" for name, value in made.settings.items()),
        "solver": made.solver,
        "passes": f"about {made.passes}",
        "memory": f"{say_bytes(made.peak_bytes)} beside the data",
        "why": made.why,
    }
    wrapped = (
        textwrap.fill(text, width, initial_indent=f"{name:<10}", subsequent_indent=" " * 10)
        for name, text in lines.items()
    )
    return "\n".join(wrapped)
