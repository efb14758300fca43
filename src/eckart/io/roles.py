"""Assemble a source from the parts of a table (numbers, texts), with a note on every decision."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from eckart.engine.blocks.source import MemorySource, Metadata
from eckart.environment import SMALL, free_memory, say_bytes
from eckart.errors import FileError, ParameterError
from eckart.formatting import about_columns, counted
from eckart.formatting import listed as listed
from eckart.formatting import quoted as quoted
from eckart.io.codes import answer_notes, code_notes, padded_columns
from eckart.notes import Note

_BREAK = re.compile(r"\s*[\r\n]+\s*")
MOST_NAMES = 1_000_000
"""With more rows than this, names and labels are not kept."""


@dataclass
class Text:
    """A text column set aside. `names_rows` tells whether it may serve as row names."""

    name: str
    values: tuple[str, ...]
    unique: bool
    names_rows: bool = True
    kind: str = "text"


@dataclass
class Parts:
    """What a reader found: a matrix with column names, text columns, and notes."""

    matrix: np.ndarray
    column_names: list[str]
    texts: list[Text] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    row_names: tuple[str, ...] | None = None
    index: tuple[str, ...] | None = None
    """Row names if no column of text can name the rows."""
    order: list[str] = field(default_factory=list)
    """All columns of the file, in their order."""
    column_roles: dict[str, str] = field(default_factory=dict)
    """Treatment of columns that are neither plain numbers nor labels."""
    layout: list[Note] = field(default_factory=list)
    """Findings on the format of the file, in sentences."""


def assemble(parts: Parts, name: str, row_names: str | None = "auto") -> MemorySource:
    """Use the first text column that distinguishes the rows as row names; other text columns become labels."""
    names, labels = parts.row_names, list(parts.texts)
    notes = list(parts.notes)
    chosen = _row_names(labels, row_names) if names is None else None
    if chosen is not None:
        labels.remove(chosen)
        names = chosen.values
        unnamed = re.fullmatch("column [0-9]+", chosen.name)
        named_by = chosen.name if unnamed else f"the column {quoted(chosen.name)}"
        notes.append(Note("row_names", f"The row names come from {named_by}."))
    elif names is None:
        names = parts.index
    notes += _label_notes(labels)
    notes += answer_notes({label.name: label.values for label in labels if label.kind == "text"})
    parsing_notes = (*parts.layout, *notes)
    notes += column_notes(parts, names)
    metadata = Metadata(
        name=name,
        row_names=names,
        column_names=tuple(parts.column_names),
        labels={label.name: label.values for label in labels},
        notes=tuple(notes),
        parsing_notes=parsing_notes,
        column_roles=_column_roles(parts, chosen, labels),
        roles={} if chosen is None else {chosen.name: "row names"},
    )
    return MemorySource(parts.matrix, metadata)


def _column_roles(parts: Parts, chosen: Text | None, labels: Sequence[Text]) -> dict[str, str]:
    """Treatment of each column: analysed, used as names or labels, or left out, and why."""
    found = dict.fromkeys(parts.column_names, "analysed")
    if chosen is not None:
        found[chosen.name] = "used as row names"
    kinds = {"text": "text", "date": "dates or times", "amount": "numbers with a symbol or a unit"}
    kinds["digits"] = "numbers stored as text"
    for label in labels:
        different = len(set(label.values))
        found[label.name] = f"{kinds[label.kind]}, used as a label ({counted(different, 'different value')})"
    found |= parts.column_roles
    return {name: found[name] for name in parts.order or found if name in found}


def column_notes(parts: Parts, row_names: tuple[str, ...] | None) -> list[Note]:
    """Notes on single columns of the matrix: they only count the rows, or have missing values or codes for them."""
    codes = code_notes(parts.matrix, parts.column_names)
    return _id_notes(parts) + codes + missing_notes(parts, row_names)


def _row_names(texts: Sequence[Text], asked: str | None) -> Text | None:
    if asked is None:
        return None
    if asked == "auto":
        return next((text for text in texts if text.names_rows and text.unique), None)
    return next((text for text in texts if text.name == asked), None)


def check_row_names(asked: str | None, available: Sequence[str], name: str) -> None:
    """Refuse a row-name column that does not exist."""
    if asked not in (None, "auto") and asked not in available:
        raise ParameterError(
            f"{name} has no column {asked!r} to use as row names. Its columns are {listed(list(available))}."
        )


def names_dropped(columns: Sequence[str], most: int | None = None) -> Note:
    """A note that these columns do not name or label the rows: too many rows, or more than `most` bytes of text."""
    cause = f"there are more than {MOST_NAMES:,} rows" if most is None else f"they take more than {say_bytes(most)}"
    return Note("names_dropped", f"The names and labels in {listed(columns)} were dropped, because {cause}.")


def most_text(memory: int | None) -> int:
    """Bytes that the names and labels of the rows may take. Python's copy of a text may be several times larger."""
    return max((free_memory() if memory is None else memory) // 4, SMALL)


def unique_names(names: Sequence[str]) -> tuple[list[str], list[Note]]:
    """Give every column a unique name on one line and report changes."""
    plain = [_BREAK.sub(" ", name).strip() or f"column {position}" for position, name in enumerate(names, 1)]
    used, taken, counts = set(plain), set[str](), dict[str, int]()
    out, changed = [], []
    for name in plain:
        own = name
        while own in taken or (own != name and own in used):
            counts[name] = counts.get(name, 1) + 1
            own = f"{name}.{counts[name]}"
        if own != name:
            changed.append(f"{quoted(name)} is now {quoted(own)}")
        taken.add(own)
        out.append(own)
    shown = "; ".join(changed[:5]) + (f"; and {len(changed) - 5} more" if len(changed) > 5 else "")
    return out, [
        Note("names_numbered", f"Column names that occur more than once were numbered: {shown}.")
    ] if changed else []


TRUTH_VALUES = (
    "contains true and false, which are read as 1 and 0.",
    "contain true and false, which are read as 1 and 0.",
)
NOT_NUMBERS = (
    "was left out, because its values are not numbers.",
    "were left out, because their values are not numbers.",
)
"""Ends of sentences about one column and about several."""


_LABEL_NOTES = {
    "digits": (
        "numbers_as_text",
        (
            "contains numbers that are stored as text, so it is used as a label. To analyse it, convert it to numbers "
            "first."
        ),
        (
            "contain numbers that are stored as text, so they are used as labels. To analyse them, convert them to "
            "numbers first."
        ),
    ),
    "amount": (
        "amounts_set_aside",
        (
            "contains numbers with different symbols or units, so it is used as a label. To analyse it, use the same "
            "symbol in all cells, or none."
        ),
        (
            "contain numbers with different symbols or units, so they are used as labels. To analyse them, use the "
            "same symbol in all cells of a column, or none."
        ),
    ),
    "text": (
        "labels",
        "contains text, so it is used as a label and not analysed.",
        "contain text, so they are used as labels and not analysed.",
    ),
    "date": (
        "dates_set_aside",
        "contains dates or times, so it is used as a label and not analysed. To analyse it, convert it to numbers.",
        (
            "contain dates or times, so they are used as labels and not analysed. To analyse them, convert them to "
            "numbers."
        ),
    ),
}
"""Kind of text -> code of the note, and the ends of its sentences about one column and about several."""


def _label_notes(labels: list[Text]) -> list[Note]:
    named = {kind: [label.name for label in labels if label.kind == kind] for kind in _LABEL_NOTES}
    return [
        Note(code, about_columns(named[kind], one, many))
        for kind, (code, one, many) in _LABEL_NOTES.items()
        if named[kind]
    ]


def _id_notes(parts: Parts) -> list[Note]:
    from eckart.io.identifiers import code_columns, identifier_columns

    found, padded = identifier_columns(parts.column_names, parts.matrix), padded_columns(parts.column_roles)
    codes = [j for j in code_columns(parts.column_names, parts.matrix, padded) if j not in found]
    notes = []
    for places, content in ((found, "to identify or number the rows"), (codes, "to contain codes, not quantities")):
        names = [parts.column_names[j] for j in places]
        if names:
            one = f"seems {content}, but Eckart analyses it anyway. If it is not a measurement, leave it out."
            many = f"seem {content}, but Eckart analyses them anyway. If they are not measurements, leave them out."
            notes.append(Note("numbering_column", about_columns(names, one, many)))
    return notes


def missing_notes(parts: Parts, names: tuple[str, ...] | None) -> list[Note]:
    """Count missing values by column, in blocks of rows to avoid a second matrix."""
    matrix = parts.matrix
    per_column = np.zeros(matrix.shape[1], np.int64)
    first, empty_rows, first_empty = None, 0, 0
    step = max(1, (1 << 20) // max(matrix.shape[1], 1))
    for start in range(0, len(matrix), step):
        gone = np.isnan(matrix[start : start + step])
        if not gone.any():
            continue
        per_column += gone.sum(axis=0)
        if first is None:
            row, column = np.unravel_index(int(gone.argmax()), gone.shape)
            first = start + int(row), int(column)
        whole = np.flatnonzero(gone.all(axis=1))
        first_empty = start + int(whole[0]) if whole.size and not empty_rows else first_empty
        empty_rows += whole.size
    if first is None:
        return []
    return _missing_sentences(parts, per_column, first, empty_rows, first_empty, names)


def _missing_sentences(
    parts: Parts,
    per_column: NDArray[np.int64],
    first: tuple[int, int],
    empty_rows: int,
    first_empty: int,
    names: tuple[str, ...] | None,
) -> list[Note]:
    rows, columns = parts.matrix.shape
    title = f" ({quoted(names[first[0]])})" if names else ""
    touched = int((per_column > 0).sum())
    count = (
        f"{int(per_column.sum())} of {rows * columns} values "
        f"{'is' if per_column.sum() == 1 else 'are'} missing, in {touched} of {columns} columns"
    )
    place = f"the first is in row {first[0] + 1}{title}, column {quoted(parts.column_names[first[1]])}"
    notes = [Note("missing_values", f"{count}; {place}.", {"count": int(per_column.sum())})]
    if (whole := np.flatnonzero(per_column == rows)).size:
        notes.append(
            Note("empty_columns", f"These columns contain no values: {listed([parts.column_names[j] for j in whole])}.")
        )
    if empty_rows:
        notes.append(
            Note(
                "empty_rows",
                f"{counted(empty_rows, 'row contains', 'rows contain')} no values; the first is row {first_empty + 1}.",
            )
        )
    return notes


def refuse_empty(rows: int, columns: int, name: str) -> None:
    if rows == 0:
        raise FileError(f"{name} has column names but no rows below them. Check that the file is complete.")
    if columns == 0:
        raise FileError(
            f"{name} has no numeric column to analyse. Check the delimiter and the decimal separator, "
            "and write numbers without units. To analyse categories, encode each category as a "
            "column of 0 and 1 (in pandas: get_dummies). To analyse ordered answers such as agree and disagree, "
            "replace them with numbers."
        )
