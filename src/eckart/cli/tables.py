"""From DATA on the command line to a source: read it, keep the requested columns, and match a model's column order."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eckart.cli.app import Refused, standard_input
from eckart.cli.options import ReadingOptions
from eckart.formatting import counted

if TYPE_CHECKING:
    import numpy as np

    from eckart.arrays import Matrix
    from eckart.errors import MissingValuesError
    from eckart.notes import Note

Source = Any
"""A MemorySource or a ConvertingSource, which have a matrix; a RowSource if the matrix would be too large."""


def read(
    data: str, reading: ReadingOptions, *, measurements: bool = True, memory: int | None = None, stream: bool = False
) -> Source:
    """The table at a path, or on standard input for '-', with the requested columns.

    Columns that only number the rows are set aside unless columns were named; `measurements=False` keeps them. Tables
    too large for `memory`, and all tables with `stream`, are read in blocks.
    """
    from eckart.io.identifiers import without_identifiers

    source = _opened(data, reading, memory=memory, stream=stream)
    if reading.labels:
        source = _labelled(source, reading.labels)
    if reading.columns or reading.drop:
        source = keep(source, _chosen(source, reading))
    return without_identifiers(source, memory) if measurements and not reading.columns else source


def _opened(data: str, reading: ReadingOptions, *, memory: int | None, stream: bool) -> Source:
    """Open DATA with the library's opener; small data are loaded whole, whatever their kind."""
    from eckart.cli.execution import in_blocks, whole_if_small
    from eckart.io.open_data import open_with

    if stream and data == "-":
        raise Refused("Reading in blocks needs a file that can be read more than once. Give the path of a file.")
    given = standard_input().buffer if data == "-" else absolute(data) if stream else data
    source = whole_if_small(open_with(given, reading.options, memory=memory, stream=stream or None), memory, stream)
    if stream and not in_blocks(source):
        raise Refused(f"{data} cannot be read in blocks. Convert it first: eckart convert {data} table.npy.")
    return replace(source, metadata=replace(source.metadata, name="standard input")) if data == "-" else source


def _labelled(source: Source, given: Sequence[str]) -> Source:
    """The source with columns of numbers set aside as labels; columns of text are labels already."""
    names = column_names(source)
    words = [word.strip() for word in _split_names(given, names)]
    indices = _indices(source, [word for word in words if word not in source.metadata.labels], "--labels")
    if not indices:
        return source
    labels = {names[j]: tuple(map(_label, column(source, j).tolist())) for j in indices}
    kept = keep(source, [j for j in range(len(names)) if j not in indices])
    column_roles = kept.metadata.column_roles | dict.fromkeys(labels, "used as a row label, as requested with --labels")
    return replace(
        kept, metadata=replace(kept.metadata, labels=kept.metadata.labels | labels, column_roles=column_roles)
    )


def _label(value: float) -> str:
    """A number as text with all its digits: rounded numbers of two groups could be the same."""
    return "" if value != value else f"{value:.0f}" if value.is_integer() else repr(value)


def column(source: Source, place: int) -> np.ndarray:
    """The numbers of one column."""
    import numpy as np

    one = keep(source, [place])
    block = one.matrix if hasattr(one, "matrix") else one.read(0, one.shape[0])
    return np.asarray(block.toarray() if one.sparse else block).ravel()


def weighted(source: Source, name: str) -> tuple[Source, np.ndarray]:
    """The source without the column of row weights, and the weights."""
    indices = _indices(source, [name], "--weights")
    if source.shape[1] == 1:
        raise Refused("The column of weights is the only column, so there are no data to decompose.")
    kept = keep(source, [j for j in range(source.shape[1]) if j != indices[0]])
    column_roles = kept.metadata.column_roles | {name: "used as row weights"}
    metadata = replace(kept.metadata, column_roles=column_roles, roles=kept.metadata.roles | {name: "weights"})
    return replace(kept, metadata=metadata), column(source, indices[0])


def absolute(data: str) -> str:
    """An absolute path, because workers of a cluster have other working folders.

    Patterns and addresses stay as they are.
    """
    import os

    return data if "://" in data else os.path.abspath(data)  # noqa: PTH100


def column_names(source: Source) -> tuple[str, ...]:
    """The names of the columns, or x1, x2, ..."""
    from eckart.io import columns

    return columns.column_names(source)


def keep(source: Source, indices: Sequence[int]) -> Source:
    """The source with these columns only, in this order."""
    from eckart.io import columns

    return columns.keep(source, indices)


def _chosen(source: Source, reading: ReadingOptions) -> list[int]:
    names = column_names(source)
    wanted = _indices(source, reading.columns, "--columns") if reading.columns else list(range(len(names)))
    dropped = set(_indices(source, reading.drop, "--drop"))
    left = [j for j in wanted if j not in dropped]
    if not left:
        raise Refused("No columns are left to analyse: --columns and --drop exclude all of them.")
    return left


def _split_names(given: Sequence[str], known: Container[str]) -> list[str]:
    """The names in options; a name given alone may contain a comma."""
    return [word for text in given for word in ([text] if text in known else text.split(","))]


def _indices(source: Source, given: Sequence[str], option: str) -> list[int]:
    """Where the named columns are."""
    names = column_names(source)
    where = {name: j for j, name in enumerate(names)}
    indices: list[int] = []
    for word in (word if word in where else word.strip() for word in _split_names(given, where)):
        if word in source.metadata.labels and option == "--drop":
            continue
        if word not in where:
            raise Refused(_no_column(source, word, names, option))
        if where[word] not in indices:
            indices.append(where[word])
    return indices


def _no_column(source: Source, word: str, names: Sequence[str], option: str) -> str:
    """Why a name is not a column of numbers."""
    from eckart.io.roles import listed, quoted
    from eckart.options import near_match

    title = source.metadata.name
    if word in source.metadata.labels:
        return (
            f"{option}: the column {quoted(word)} of {title} contains text, but a decomposition needs "
            "numbers. Leave it out, or encode it as numbers."
        )
    kind = "column" if option == "--labels" else "numeric column"
    names = [*names, *source.metadata.labels] if option == "--labels" else names
    near = near_match(word, names)
    hint = near if near != "." else f". Its {kind}s are {listed(names)}."
    return f"{option}: {title} has no {kind} {quoted(word)}{hint}"


def _identifiers_beyond(source: Source, names: Sequence[str], wanted: Sequence[str], what: str) -> list[str]:
    """The surplus columns, if their names are those of identifiers, times or codes; otherwise an error."""
    from eckart.io.codes import padded_columns
    from eckart.io.identifiers import may_identify

    padded = padded_columns(source.metadata.column_roles)
    extra = [name for name in names if name not in set(wanted)]
    set_aside = all(name in padded or may_identify(name) for name in extra)
    if len(names) - len(extra) != len(wanted) or not set_aside:
        raise Refused(_difference(source, names, wanted, what))
    return extra


def matched(source: Source, wanted: Sequence[str] | None, what: str) -> tuple[Source, list[str]]:
    """The source with its columns in the order of `wanted`, matched by name if both have names, and notes."""
    from eckart.io.columns import are_numbered, named_by
    from eckart.io.roles import listed

    names = source.metadata.column_names
    if wanted is None or names == tuple(wanted):
        return source, []
    if names is None or (are_numbered(names) and not set(names) & set(wanted)):
        return source, [_in_order(source, len(wanted), what)]
    extra = _identifiers_beyond(source, names, wanted, what)
    where = {name: j for j, name in enumerate(names)}
    order = [where[name] for name in wanted]
    kept = named_by(keep(source, order), source, [where[name] for name in extra])
    notes = [f"Ignored columns that {what} does not have: {listed(extra)}."] if extra else []
    if order != sorted(order):
        notes.append(f"The columns of {source.metadata.name} were reordered by name to match {what}.")
    return kept, notes


def _in_order(source: Source, count: int, what: str) -> str:
    """The note on a table without column names, which must have as many columns as the model."""
    title = source.metadata.name
    if source.shape[1] != count:
        raise Refused(
            f"{title} has {counted(source.shape[1], 'column')}, but {what} has {count}. A table "
            f"without column names must have exactly the same columns as {what}."
        )
    return f"{title} has no column names. Eckart assumes that its columns are in the same order as those of {what}."


def _difference(source: Source, names: Sequence[str], wanted: Sequence[str], what: str) -> str:
    from eckart.io.roles import listed

    missing = [name for name in wanted if name not in set(names)]
    extra = [name for name in names if name not in set(wanted)]
    message = f"{source.metadata.name} does not have the same columns as {what}."
    if missing:
        message += f" Missing: {listed(missing)}."
        if texts := [name for name in missing if name in source.metadata.labels]:
            message += f" (These columns are present but contain text: {listed(texts)}.)"
    if extra:
        message += f" Extra columns: {listed(extra)}. Leave them out with --drop."
    return message


def gaps(source: Source, error: MissingValuesError, ways: Sequence[str] = ("em", "mean")) -> Refused:
    """An error about missing values in terms of the table: how many, where the first is, what to do.

    `ways` are the values of --missing that the command offers.
    """
    from eckart.analysis.square_tables import NO_DIAGONAL, lacks_diagonal
    from eckart.io.roles import Parts, missing_notes

    if lacks_diagonal(source):
        return Refused(f"{source.metadata.name}: {NO_DIAGONAL}")
    if _is_triangle(source):
        return Refused(
            f"{source.metadata.name} is a symmetric matrix of which only one triangle is given. 'eckart report "
            f"{source.metadata.name}' fills in the other one; this command needs the whole matrix."
        )
    option = " or ".join(f"--missing {way}" for way in ways)
    first = f"use {option}" if option else "impute them first in Python with eckart.fill_missing"
    remedy = f"The decomposition needs all values: {first}, ignore these columns with --drop, or remove the rows."
    names = column_names(source)
    if not hasattr(source, "matrix"):
        return Refused(error.worded("cli"))
    found: Sequence[str]
    if source.sparse:
        found = _sparse_gaps(source.matrix, names)
    else:
        found = missing_notes(Parts(source.matrix, list(names)), source.metadata.row_names)
    return Refused(
        f"{source.metadata.name}: {found[0]} {remedy}" if found else f"{source.metadata.name}: {error.worded('cli')}"
    )


def notes_on_pairs(source: Source, method: str) -> list[Note]:
    """A note on a table of distances or correlations, whose rows are not observations."""
    from eckart.analysis.square_tables import recognise_for

    square = recognise_for(method, source)
    return [] if square is None else [square.note(method)]


def _is_triangle(source: Source) -> bool:
    from eckart.analysis.square_tables import recognise

    square = recognise(source)
    return square is not None and square.completed


def _sparse_gaps(matrix: Matrix, names: Sequence[str]) -> list[str]:
    import numpy as np

    entries = matrix.tocoo()
    missing = np.flatnonzero(np.isnan(entries.data))
    if not missing.size:
        return []
    first = missing[np.argmin(entries.row[missing])]
    place = f"row {int(entries.row[first]) + 1}, column {names[int(entries.col[first])]!r}"
    return [
        (
            f"{missing.size} of {entries.nnz} stored values {'is' if missing.size == 1 else 'are'} missing; the first "
            f"is in {place}."
        )
    ]
