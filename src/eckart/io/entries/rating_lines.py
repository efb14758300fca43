"""Tables with one rating per line: row, column, rating, and perhaps the time of the rating.

Texts or numbers identify the row and the column. Numbers do so only if the names of the columns say it, or if the table
has the form of such a list: no pair of numbers repeats, each number occurs twice on average, and there are more
different rows or columns than ratings. Two measurements of a few dozen rows may have no equal pair either, but their
values hardly repeat.

A pair that occurs several times has the latest of its ratings if the lines have times, otherwise their mean: the
squared error of all its lines is least there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from eckart.engine.blocks.source import Metadata
from eckart.formatting import counted

_RATING = re.compile(r"rating|score|stars?$|grade|vote", re.IGNORECASE)
_IDENTIFIER = re.compile(
    r"(^|[a-z_ .-])ids?$|^(user|item|movie|film|book|product|customer|song|artist)s?", re.IGNORECASE
)
_TIME = re.compile(r"time|date", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d\b")
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
    titles: tuple[str, str, str]
    """Names of the columns of the file that have the row, the column and the number."""
    note: str
    """What was done with pairs that occur several times; "" if there are none."""


def is_rating(name: str) -> bool:
    """Whether the name of a column says that it has ratings."""
    return _RATING.search(name) is not None


def rating_lines(table: np.ndarray, metadata: Metadata | None) -> RatingLines | None:
    """The entries of a table with one rating per line; None for any other table."""
    if not 1 <= table.shape[1] <= 4:
        return None
    lines, times = _columns(table, Metadata() if metadata is None else metadata)
    numbers = [name for name, cells in lines.items() if cells.dtype.kind == "f"]
    if len(lines) != 3 or not numbers:
        return None
    rating = next(filter(_RATING.search, numbers), numbers[-1])
    values = lines.pop(rating)
    if len(numbers) > 1 and not _is_rated(lines, rating, values):
        return None
    return _entries(lines, rating, values, times)


def _is_rated(others: dict[str, np.ndarray], rating: str, values: np.ndarray) -> bool:
    """Whether a table with several columns of numbers has the form: by its names, or by its numbers."""
    if not all(cells.dtype.kind != "f" or _is_identifier(cells) for cells in others.values()):
        return False
    if _RATING.search(rating) and any(map(_IDENTIFIER.search, others)):
        return True
    who, what = others.values()
    return _is_list(who, what, values)


def _without_descriptions(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Ratings without texts that describe the row or the column, such as the title of a film in addition to its number.

    A text that has one value for each value of a repeated column describes it. If the opposite holds too, the text
    replaces a number, because a title says more.
    """
    rating = next((name for name, cells in columns.items() if cells.dtype.kind == "f" and _RATING.search(name)), None)
    left = dict(columns)
    if rating is None:
        return left
    for text in columns:
        if len(left) > 3 and columns[text].dtype.kind != "f":
            left = _without_description(left, text, rating)
    return left


def _without_description(left: dict[str, np.ndarray], text: str, rating: str) -> dict[str, np.ndarray]:
    """The columns without a text that describes another one, or without the number that the text replaces."""
    owner = next((name for name in left if name not in (text, rating) and _describes(left[text], left[name])), None)
    if owner is None:
        return left
    replaced = {owner: text} if left[owner].dtype.kind == "f" and _describes(left[owner], left[text]) else {}
    names = [replaced.get(name, name) for name in left if name != text]
    return {name: left[name] for name in names}


def _describes(cells: np.ndarray, owner: np.ndarray) -> bool:
    """Whether each value of `owner`, which repeats, always has the same value of `cells`."""
    values, first, codes = np.unique(owner, return_index=True, return_inverse=True)
    return len(values) < len(owner) and bool(np.array_equal(cells, cells[first][codes]))


def _in_order(columns: dict[str, np.ndarray], names: Iterable[str]) -> dict[str, np.ndarray]:
    """The columns in the order of `names`, if all are among them."""
    order = [name for name in names if name in columns]
    return {name: columns[name] for name in order} if len(order) == len(columns) else columns


def _columns(table: np.ndarray, metadata: Metadata) -> tuple[dict[str, np.ndarray], np.ndarray | None]:
    """All columns by name, in the order of the file, numbers as float64 and others as text; times separately."""
    names = metadata.column_names or map(str, range(table.shape[1]))
    texts = {name: np.asarray(cells).astype(str) for name, cells in metadata.labels.items()}
    kept = _in_order(dict(zip(names, table.T, strict=True)) | texts, metadata.column_roles)
    kept = _without_descriptions(kept)
    times = [name for name, cells in kept.items() if _is_time(name, cells)] if len(kept) == 4 else []
    return kept, _moments(kept.pop(times[0])) if times else None


def _moments(cells: np.ndarray) -> np.ndarray | None:
    """Times as numbers that can be compared; None if they are text in another form than 2024-01-31 12:30."""
    if cells.dtype.kind == "f":
        return cells if np.isfinite(cells).all() else None
    try:
        return cells.astype("datetime64[us]").astype(np.float64)
    except ValueError:
        return None


def _is_time(name: str, cells: np.ndarray) -> bool:
    if _TIME.search(name):
        return True
    if cells.dtype.kind == "f":
        return bool(np.all(cells >= _EARLIEST))
    return all(map(_DATE.match, cells.tolist()))


def _is_identifier(cells: np.ndarray) -> bool:
    return bool(np.all(np.isfinite(cells)) and np.all(cells >= 0) and np.all(cells == np.floor(cells)))


def _is_list(who: np.ndarray, what: np.ndarray, values: np.ndarray) -> bool:
    """Whether numbers in two columns have the form of row and column: see above."""
    (rows, i), (columns, j) = (np.unique(cells, return_inverse=True) for cells in (who, what))
    lines, different = len(values), len(np.unique(values[~np.isnan(values)]))
    return (
        lines >= _FEWEST
        and max(len(rows), len(columns)) > different
        and 2 * max(len(rows), len(columns)) <= lines
        and len(np.unique(i * len(columns) + j)) == lines
    )


def _entries(lines: dict[str, np.ndarray], rating: str, values: np.ndarray, times: np.ndarray | None) -> RatingLines:
    (row, who), (column, what) = lines.items()
    known = ~np.isnan(values)
    row_names, rows = np.unique(who[known], return_inverse=True)
    column_names, columns = np.unique(what[known], return_inverse=True)
    values, note = values[known], ""
    pairs, first, pair = np.unique(rows * len(column_names) + columns, return_index=True, return_inverse=True)
    if len(pairs) < len(values):
        count, rows, columns = len(values), rows[first], columns[first]
        if times is None:
            kept, values = "the mean of its ratings", np.bincount(pair, values) / np.bincount(pair)
        else:
            kept, latest = "its latest rating", np.empty(len(pairs), np.intp)
            order = np.argsort(times[known], kind="stable")
            latest[pair[order]] = order  # later lines replace earlier ones
            values = values[latest]
        note = (
            f"The file has {count:,} ratings for {counted(len(pairs), 'pair')} of a row and a column. If a "
            f"pair has several ratings, Eckart uses {kept}."
        )
    return RatingLines(rows, columns, values, _names(row_names), _names(column_names), (row, column, rating), note)


def _names(cells: np.ndarray) -> tuple[str, ...]:
    return tuple(f"{cell:.0f}" if cells.dtype.kind == "f" else str(cell) for cell in cells)
