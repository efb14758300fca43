"""eckart fit, plan: decompose a table, or predict the cost."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from eckart.aliases import Keywords
from eckart.cli.console import Console
from eckart.cli.execution import ExecutionOptions, execution
from eckart.cli.options import FitOptions, Output, ReadingOptions, output, reading, wanted, with_console
from eckart.cli.tables import Source
from eckart.cli.tuning import Tuning, tuning
from eckart.formatting import counted, joined
from eckart.notes import Note, code_of
from eckart.registry import get_method

if TYPE_CHECKING:
    from eckart.result import Decomposition, Plan

_MOST_SCORES = 20_000_000
"""Scores are kept for the plot of the rows if they are at most this many numbers."""


@dataclass(frozen=True)
class Fitted:
    """A decomposition with the notes and warnings that led to it."""

    source: Source
    d: Decomposition
    warnings: list[str]

    @property
    def name(self) -> str:
        return str(self.source.metadata.name)


@click.command(short_help="Decompose a table and save the model.")
@click.argument("data")
@wanted
@output("Model file to write, such as model.eckart.", required=True)
@click.option(
    "--keep-rows",
    is_flag=True,
    help="Also save the scores of the rows. 'similar' and 'query' can then refer to rows by name.",
)
@tuning
@execution
@reading
@with_console
def fit(
    console: Console, data: str, wanted: FitOptions, reading: ReadingOptions, execution: ExecutionOptions,
    output: Output, keep_rows: bool, tuning: Tuning,
) -> None:  # fmt: skip
    """Decompose DATA and save the components as a model file.

    'transform', 'reconstruct', 'query', 'similar' and 'recommend' use the model.

    \b
    Example:
      eckart fit usarrests.csv --scale -k 2 -o arrests.eckart
    """
    from eckart.analysis import document as documents
    from eckart.analysis import sentences
    from eckart.cli import outputs
    from eckart.cli.app import Refused

    if output.path == "-":
        raise Refused(
            "A model cannot be printed to standard output. Give a file name with -o, such as -o model.eckart."
        )
    outputs.check(output)
    found = fitted(console, Job(data, wanted, reading, execution, tuning), left=keep_rows)
    with outputs.writing():
        found.d.save(output.path, overwrite=output.force)
    if console.json:
        content = documents.of_decomposition(found.d)
        console.document(data=found.name, **content, warnings=found.warnings, model=output.path)
        return
    console.say_all(sentences.doubts(found.d, door="cli"))
    console.say(f"{sentences.what(found.d)} {sentences.carried(found.d)}")
    console.say(f"Saved the model to {output.path}.")


@click.command(short_help="Predict the solver, the number of passes over the data and the memory needed.")
@click.argument("data")
@wanted
@reading
@with_console
def plan(console: Console, data: str, wanted: FitOptions, reading: ReadingOptions) -> None:
    """Predict which solver 'report' and 'fit' would use for DATA, without decomposing DATA.

    The plan shows the solver and why Eckart chooses it, the number of passes over the data, and the memory needed.

    \b
    Example:
      eckart plan usarrests.csv --explain 90%
    """
    from eckart.analysis import document as documents
    from eckart.api import plan as make_plan
    from eckart.cli.tables import read

    with console.status(f"Reading {data}"):
        source = read(data, reading, memory=wanted.memory)
    asked, notes = _with_number(source, wanted, _arguments(wanted))
    made = make_plan(source, wanted.method, **asked)
    notes = [*source.metadata.notes, *notes]
    if console.json:
        console.document(data=source.metadata.name, plan=documents.of_fields(made), notes=notes)
        return
    console.say_all(notes)
    click.echo(_plan_text(made, console.width))


@dataclass(frozen=True)
class Task:
    """A table and the arguments of `decompose` that the options of the command line give."""

    source: Source
    arguments: Keywords
    notes: list[Note]


@dataclass(frozen=True)
class Job:
    """A table by name, and the options of the command line for reading and decomposing it."""

    data: str
    wanted: FitOptions
    reading: ReadingOptions
    execution: ExecutionOptions
    tuning: Tuning


def prepared(console: Console, job: Job) -> Task:
    """Read the table and translate the options, with the number of components as given, or none."""
    from eckart.cli.tables import read, weighted

    wanted = job.wanted
    special = job.tuning.arguments(wanted.method)
    with console.status(f"Reading {job.data}"):
        source = read(job.data, job.reading, memory=wanted.memory, stream=job.execution.asked)
    if "sample_weight" in special:
        source, special["sample_weight"] = weighted(source, special["sample_weight"])
    notes = _scanned(console, source, wanted, special) if special.pop("scan", False) else []
    return Task(source, _arguments(wanted) | special, notes)


@contextlib.contextmanager
def decomposing(
    console: Console, task: Task, wanted: FitOptions, execution: ExecutionOptions
) -> Iterator[tuple[Keywords, list[str]]]:
    """Arguments for long computations, and the list that collects warnings; missing values are explained."""
    from eckart.cli.execution import working
    from eckart.cli.tables import gaps
    from eckart.errors import MissingValuesError

    rows, columns = task.source.shape
    what = f"Decomposing {rows:,} rows x {columns:,} columns"
    with console.warnings() as warned, working(console, task.source, wanted.method, execution, what) as more:
        try:
            yield more, warned
        except MissingValuesError as error:
            raise gaps(task.source, error, get_method(wanted.method).missing) from error


def fitted(console: Console, job: Job, *, left: bool) -> Fitted:
    from eckart.api import decompose
    from eckart.cli.tables import notes_on_pairs

    task, wanted = prepared(console, job), job.wanted
    arguments, notes = _with_number(task.source, wanted, task.arguments)
    rows, columns = task.source.shape
    left = left and rows * (arguments.get("k") or min(rows, columns)) <= _MOST_SCORES
    with decomposing(console, task, wanted, job.execution) as (more, warned):
        d = decompose(task.source, get_method(wanted.method), left=left, rng=wanted.seed, **arguments, **more)
    known = set(map(code_of, d.notes))
    of_pairs = [note for note in notes_on_pairs(task.source, wanted.method) if note.code not in known]
    notes = [*task.notes, *notes, *of_pairs]
    return Fitted(task.source, replace(d, notes=(*d.notes, *notes)), warned)


def _scanned(console: Console, source: Source, wanted: FitOptions, special: Keywords) -> list[Note]:
    """Put the best kernel and width into `special`, and report them."""
    from eckart.cli.app import Refused
    from eckart.kernel_pca.scan_kernels import scan_kernels

    if not hasattr(source, "matrix"):
        raise Refused(
            "--scan needs the whole table in memory, but this table is read in blocks. Choose a "
            "kernel with --kernel instead, or allow more memory with --memory."
        )
    kernels: Keywords = {"kernels": (special["kernel"],)} if "kernel" in special else {}
    with console.status("Trying kernels"), console.warnings():
        scan = scan_kernels(source.matrix, n_components=wanted.k, **kernels)
    best = scan.best
    special["kernel"] = best.kernel
    if all(given is None for given in (wanted.k, wanted.explain, wanted.error)):
        special["k"] = scan.n_components
    if best.gamma is not None:
        special["gamma"] = best.gamma
    width = "" if best.gamma is None else f" with gamma {best.gamma:.4g}"
    why = "reconstructs held-out rows most accurately"
    if scan.by == "separation":
        first = "component" if scan.n_components == 1 else f"{scan.n_components} components"
        why = f"separates the groups of connected rows most clearly in the first {first}"
    return [Note("best_kernel", f"Of the kernels tried, {best.kernel}{width} {why}.")]


def _arguments(wanted: FitOptions) -> Keywords:
    """The arguments of decompose from the options, with the number of components if it was given."""
    method = get_method(wanted.method)
    found: Keywords = {name: getattr(wanted, name) for name in ("scale", "which") if name in method.takes}
    for name in ("memory", "k", "explain", "error"):
        if getattr(wanted, name) is not None:
            found[name] = getattr(wanted, name)
    if wanted.missing != "error":
        found["missing"] = wanted.missing
    return found


def _with_number(source: Source, wanted: FitOptions, arguments: Keywords) -> tuple[Keywords, list[Note]]:
    """The arguments with a number of components, and a note if it was chosen here."""
    from eckart.analysis.recommendation import default_number

    if any(name in arguments for name in ("k", "explain", "error")):
        return arguments, []
    counts = (arguments.get("n_columns"), arguments.get("n_rows"))
    method = get_method(wanted.method)
    k = default_number(source, method, counts)
    options = joined(["-k", *(f"--{name}" for name in ("explain", "error") if name in method.takes)], "or")
    text = f"Kept {counted(k, 'component')} by default. To choose another number, use {options}."
    return {**arguments, "k": k}, [Note("default_k", text)]


def _plan_text(made: Plan, width: int) -> str:
    import textwrap

    from eckart.environment import say_bytes

    components = "as many as --explain or --error requires" if made.k is None else f"{made.k:,}"
    lines = {
        "method": f"{made.method} of {made.rows:,} rows x {made.columns:,} columns",
        "components": components,
        "settings": ", ".join(f"{name}={value}" for name, value in made.settings.items()),
        "solver": made.solver,
        "passes": f"about {made.passes}",
        "memory": f"{say_bytes(made.peak_bytes)} in addition to the data",
        "why": made.why,
    }
    indent = max(map(len, lines)) + 2
    wrapped = (
        textwrap.fill(text, width, initial_indent=f"{name:<{indent}}", subsequent_indent=" " * indent)
        for name, text in lines.items()
    )
    return "\n".join(wrapped)
