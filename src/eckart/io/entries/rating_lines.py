"""Tables with one rating per line: row, column, rating, and perhaps the time of the rating.

Texts or numbers identify the row and the column. Numbers do so only if the names of the columns say it, or if the table
has the form of such a list: no pair of numbers repeats, each number does, and there are more different rows or columns
than ratings.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from eckart.engine.blocks.source import Metadata
from eckart.errors import InputError

_RATING = re.compile(r"rating|score|stars?$|grade|vote", re.IGNORECASE)
_IDENTIFIER = re.compile(
    r"(^|[a-z_ .-])ids?$|^(user|item|movie|film|book|product|customer|song|artist)s?", re.IGNORECASE
)
_TIME = re.compile(r"time|date", re.IGNORECASE)
_EARLIEST = 1e8
"""Numbers from here on are times in seconds (1973), not ratings."""
_FEWEST = 10
"""Fewer lines show no form."""


class RatingLines(NamedTuple):
    """The lines as entries of a table."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]


def is_rating_list(table: np.ndarray, metadata: Metadata | None) -> bool:
    """Whether a table has one rating per line, perhaps with pairs that repeat."""
    try:
        return rating_lines(table, metadata) is not None
    except InputError:
        return True


def rating_lines(table: np.ndarray, metadata: Metadata | None) -> RatingLines | None:
    """The entries of a table with one rating per line; None for any other table."""
    if not 1 <= table.shape[1] <= 4:
        return None
    lines = _columns(table, Metadata() if metadata is None else metadata)
    numbers = [name for name, cells in lines.items() if cells.dtype.kind == "f"]
    if len(lines) != 3 or not numbers:
        return None
    rating = next((name for name in numbers if _RATING.search(name)), numbers[-1])
    values = lines.pop(rating)
    if len(numbers) > 1 and not _is_rated(lines, rating, values):
        return None
    who, what = lines.values()
    return _entries(who, what, values)


def _is_rated(others: dict[str, np.ndarray], rating: str, values: np.ndarray) -> bool:
    """Whether a table with several columns of numbers has the form: by its names, or by its numbers."""
    if not all(cells.dtype.kind != "f" or _is_identifier(cells) for cells in others.values()):
        return False
    if _RATING.search(rating) and any(map(_IDENTIFIER.search, others)):
        return True
    who, what = others.values()
    return _is_list(who, what, values)


def _columns(table: np.ndarray, metadata: Metadata) -> dict[str, np.ndarray]:
    """All columns by name, in the order of the file, without times; numbers as float64, the others as text."""
    names = metadata.column_names or map(str, range(table.shape[1]))
    texts = {name: np.asarray(cells).astype(str) for name, cells in metadata.labels.items()}
    both = dict(zip(names, table.T, strict=True)) | texts
    order = [name for name in metadata.column_roles if name in both]
    kept = {name: both[name] for name in (order if len(order) == len(both) else both)}
    return {name: cells for name, cells in kept.items() if not (len(kept) == 4 and _is_time(name, cells))}


def _is_time(name: str, cells: np.ndarray) -> bool:
    return _TIME.search(name) is not None or (cells.dtype.kind == "f" and bool(np.all(cells >= _EARLIEST)))


def _is_identifier(cells: np.ndarray) -> bool:
    return bool(np.all(np.isfinite(cells)) and np.all(cells >= 0) and np.all(cells == np.floor(cells)))


def _is_list(who: np.ndarray, what: np.ndarray, values: np.ndarray) -> bool:
    """Whether numbers in two columns have the form of row and column: see above."""
    (rows, i), (columns, j) = (np.unique(cells, return_inverse=True) for cells in (who, what))
    lines, different = len(values), len(np.unique(values[~np.isnan(values)]))
    return (
        lines >= _FEWEST
        and max(len(rows), len(columns)) > different
        and len(rows) < lines
        and len(columns) < lines
        and len(np.unique(i * len(columns) + j)) == lines
    )


def _entries(who: np.ndarray, what: np.ndarray, values: np.ndarray) -> RatingLines:
    known = ~np.isnan(values)
    row_names, rows = np.unique(who[known], return_inverse=True)
    column_names, columns = np.unique(what[known], return_inverse=True)
    places = rows * len(column_names) + columns
    if len(np.unique(places)) < len(places):
        raise InputError(
            "The table has one rating per line, but some pairs of row and column occur more than once. Keep one "
            "rating per pair."
        )
    return RatingLines(rows, columns, values[known], _names(row_names), _names(column_names))


def _names(cells: np.ndarray) -> tuple[str, ...]:
    return tuple(f"{cell:.0f}" if cells.dtype.kind == "f" else str(cell) for cell in cells)
