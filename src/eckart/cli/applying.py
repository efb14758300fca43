"""eckart transform, reconstruct: a saved model applied to a table."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import click

from eckart.cli.console import Console
from eckart.cli.options import Decorator, Output, ReadingOptions, memory, output, reading, with_console
from eckart.formatting import counted

if TYPE_CHECKING:
    import numpy as np

    from eckart.arrays import Array
    from eckart.cli.outputs import Sheet
    from eckart.cli.tables import Source
    from eckart.result import Decomposition

_WHERE = (
    "Output file. Its suffix determines the format: .csv, .tsv, .npy, .parquet or .zarr. '-' prints CSV "
    "to standard output."
)
_GUARD = (
    "Put an apostrophe before names that start with =, +, - or @, so that spreadsheets do not run them as formulas."
)


def _written(whiten: str) -> Decorator:
    """The options of commands that read a table and write rows; `whiten` is the help of --whiten."""
    options = (
        output(_WHERE, default="-", show_default=True),
        click.option("--whiten", is_flag=True, help=whiten),
        click.option("--safe-csv", is_flag=True, help=_GUARD),
        memory,
        reading,
        with_console,
    )
    return lambda f: functools.reduce(lambda command, option: option(command), reversed(options), f)


@click.command(short_help="Compute component scores for the rows of a table.")
@click.argument("model")
@click.argument("data")
@_written("Divide the scores of each component by their standard deviation.")
def transform(
    console: Console, model: str, data: str, output: Output, reading: ReadingOptions, whiten: bool, safe_csv: bool,
    memory: int | None,
) -> None:  # fmt: skip
    """Compute scores for the rows of DATA on the components of MODEL.

    If MODEL and DATA both have column names, Eckart matches the columns by name.

    \b
    Example:
      eckart transform arrests.eckart newstates.csv -o scores.csv
    """
    from eckart.analysis.labels import component_labels
    from eckart.cli import outputs
    from eckart.cli.execution import write_blocks, written_in_blocks
    from eckart.io.model_file import load

    outputs.check(output, (*outputs.KINDS, ".zarr"))
    d = load(model)
    source, notes = _source(console, d, data, reading, memory)
    if written_in_blocks(source, output, d.k, memory):
        console.say_all(notes)
        write_blocks(console, d, source, output, memory, "scores", **_whitened(whiten))
        return
    notes += _filled(d, source)
    scores = _scores(console, d, source, whiten=whiten)
    sheet = outputs.Sheet(scores, component_labels(d), source.metadata.row_names)
    _deliver(console, sheet, output, notes, "scores", guard=safe_csv)


@click.command(short_help="Reconstruct rows from their scores.")
@click.argument("model")
@click.argument("scores", required=False)
@click.option(
    "--from-data",
    metavar="DATA",
    help="Compute the scores from DATA, instead of reading them from SCORES.",
)
@_written("Treat SCORES as whitened, as written by 'eckart transform --whiten'.")
def reconstruct(
    console: Console, model: str, scores: str | None, from_data: str | None, output: Output, reading: ReadingOptions,
    whiten: bool, safe_csv: bool, memory: int | None,
) -> None:  # fmt: skip
    """Reconstruct rows from SCORES, a file written by 'transform'.

    Eckart multiplies the scores by the components, undoes the scaling and adds the column means.

    \b
    Examples:
      eckart reconstruct arrests.eckart scores.csv -o rows.csv
      eckart reconstruct arrests.eckart --from-data usarrests.csv -o smooth.csv
    """
    from eckart.analysis.labels import column_labels
    from eckart.cli import outputs
    from eckart.cli.execution import write_blocks, written_in_blocks
    from eckart.io.model_file import load
    from eckart.projecting import reconstruct as rebuild

    if (scores is None) == (from_data is None):
        raise click.UsageError("Exactly one of SCORES and --from-data DATA is required.")
    outputs.check(output, (*outputs.KINDS, ".zarr"))
    d = load(model)
    if from_data is not None:
        source, notes = _source(console, d, from_data, reading, memory)
    else:
        source, notes = _score_table(console, d, scores or "", reading, memory)
    if written_in_blocks(source, output, d.columns, memory):
        console.say_all(notes)
        write_blocks(console, d, source, output, memory, "rows", from_data=from_data is not None, **_whitened(whiten))
        return
    if from_data is not None:
        notes += _filled(d, source)
        coordinates = _scores(console, d, source, whiten=whiten)
    else:
        coordinates = _dense(source)
    sheet = outputs.Sheet(rebuild(d, coordinates, **_whitened(whiten)), column_labels(d), source.metadata.row_names)
    _deliver(console, sheet, output, notes, "rows", guard=safe_csv)


def _whitened(whiten: bool) -> dict[str, bool]:
    """Pass the option only if it was given: not every method accepts it."""
    return {"whiten": True} if whiten else {}


def _source(
    console: Console, d: Decomposition, data: str, reading: ReadingOptions, memory: int | None
) -> tuple[Source, list[str]]:
    """The table with the model's columns in the model's order."""
    from eckart.cli.tables import matched, read

    with console.status(f"Reading {data}"):
        source = read(data, reading, measurements=False, memory=memory)
    source, notes = matched(source, d.column_names, "the model")
    return source, [*source.metadata.notes, *notes]


def _score_table(
    console: Console, d: Decomposition, scores: str, reading: ReadingOptions, memory: int | None
) -> tuple[Source, list[str]]:
    from eckart.analysis.labels import component_labels
    from eckart.cli.app import Refused
    from eckart.cli.tables import matched, read

    with console.status(f"Reading {scores}"):
        source = read(scores, reading, measurements=False, memory=memory)
    source, notes = matched(source, component_labels(d), "the scores of the model")
    if source.shape[1] != d.k:
        raise Refused(
            f"{source.metadata.name} has {counted(source.shape[1], 'column')} of scores, but the "
            f"model has {counted(d.k, 'component')}. Use scores that 'eckart transform' computed with "
            "this model."
        )
    return source, [*source.metadata.notes, *notes]


def _scores(console: Console, d: Decomposition, source: Source, *, whiten: bool) -> Array:
    from eckart.cli.tables import gaps
    from eckart.errors import MissingValuesError
    from eckart.projecting import project

    with console.warnings(), console.status(f"Projecting {counted(source.shape[0], 'row')}"):
        try:
            return project(d, source, **_whitened(whiten))
        except MissingValuesError as error:
            raise gaps(source, error) from error


def _filled(d: Decomposition, source: Source) -> list[str]:
    """A message about missing values that the model will impute."""
    import numpy as np

    from eckart.missing.fill import imputation_of

    known = imputation_of(d)
    if known is None or source.sparse or not hasattr(source, "blocks"):
        return []
    count = sum(int(np.isnan(block).sum()) for block in source.blocks())
    predicted = "values predicted from the other entries of their rows"
    way = "the means of their columns" if known.how == "mean" else predicted
    return [f"{count:,} missing value{'s were' if count > 1 else ' was'} replaced with {way}."] if count else []


def _dense(source: Source) -> np.ndarray:
    """Scores as an array; a missing score would make the whole row missing."""
    import numpy as np

    from eckart.cli.app import Refused
    from eckart.cli.tables import gaps
    from eckart.errors import MissingValuesError

    if source.sparse:
        raise Refused(
            f"{source.metadata.name} is a sparse matrix, but scores must be a dense table. Use the file "
            "that 'eckart transform' wrote."
        )
    pieces = source.blocks() if hasattr(source, "blocks") else [source.read(0, source.shape[0])]
    coordinates = np.concatenate(list(pieces))
    if np.isnan(coordinates).any():
        raise gaps(source, MissingValuesError("Scores are missing."))
    return coordinates


def _deliver(console: Console, sheet: Sheet, output: Output, notes: list[str], what: str, *, guard: bool) -> None:
    from eckart.analysis import document as documents
    from eckart.cli import outputs

    to_file = output.path != "-"
    if to_file and output.path.lower().endswith(".npy") and sheet.rows is not None:
        notes.append(
            "The row and column names were not written, because an .npy file cannot store names. To keep "
            "the names, write .csv or .parquet."
        )
    console.say_all(notes)
    if to_file or not console.json:
        with console.status(f"Writing {what}"):
            outputs.write(sheet, output, guard=guard)
    rows, columns = sheet.values.shape
    if console.json:
        names = {"row_names": documents.plain(sheet.rows), "column_names": list(sheet.columns), "notes": notes}
        content = {"output": output.path} if to_file else {what: documents.plain(sheet.values)}
        console.document(shape=[rows, columns], **names, **content)
    elif to_file:
        console.say(f"Wrote {counted(rows, 'row')} x {counted(columns, 'column')} to {output.path}.")
