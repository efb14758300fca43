"""Notes on what a decomposition assumes about a table: no sums of other columns, no target, independent rows.

The components of a table with one value per line (long form) mean nothing, so such tables are recognised as well.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.column_roles import dates_of, label_role
from eckart.analysis.combined_columns import OTHERS, combined_columns
from eckart.analysis.labels import column_labels
from eckart.arrays import Floats
from eckart.engine.blocks.source import Metadata
from eckart.io.entries.rating_lines import RatingLines, is_rating, rating_lines
from eckart.io.roles import quoted
from eckart.notes import Note
from eckart.registry import method_of
from eckart.wording import either

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eckart.result import Decomposition

_RECOMMEND = "'eckart recommend'"
_LARGEST = 2_000_000
"""Tables with more entries, or with more columns than `_WIDEST`, are not checked."""
_WIDEST = 300
_FEWEST_ROWS = 12
_TARGET = re.compile(r"(?i)y|target|targets|label|labels|class|classes|outcome|response")
_MOST_CLASSES = 10
_EQUAL = 1e-4
"""Difference of steps, relative to their mean, up to which they are equal: scales are often rounded to 4 digits."""
_SERIES_ROWS = 30
_DATED, _UNDATED = 0.5, 0.9
"""Median correlation of consecutive rows from which they are a series, with and without ordered dates."""
_NOISY_STEPS = -0.2
"""Correlation of consecutive differences below which rows are sorted groups with independent noise, not a series."""


def data_notes(d: Decomposition, matrix: object, metadata: Metadata) -> tuple[Note, ...]:
    """Notes with the codes "combined_columns", "target_column", "equal_steps" and "series".

    Large and sparse tables have none.
    """
    if not isinstance(matrix, np.ndarray) or matrix.shape != (d.rows, d.columns) or not method_of(d).orthogonal:
        return ()
    if matrix.size > _LARGEST or d.columns > _WIDEST or d.rows < _FEWEST_ROWS or not np.isfinite(matrix).all():
        return ()
    table = np.asarray(matrix, np.float64)
    names = column_labels(d)
    return (
        *combined_columns(table, names, center=d.mean is not None),
        *_targets(table, names),
        *_equal_steps(table, names),
        *_series(table, metadata),
    )


def _targets(table: Floats, names: Sequence[str]) -> list[Note]:
    """A note for each column with the name of a target and few different integers."""
    notes = []
    for j, name in enumerate(names):
        if not _TARGET.fullmatch(name):
            continue
        values = np.unique(table[:, j])
        if 2 <= len(values) <= min(_MOST_CLASSES, len(table) // 4) and (values == np.rint(values)).all():
            text = (
                f"{quoted(name)} has {len(values)} different values and looks like a class to predict, but it is "
                f"analysed as a measurement. To leave it out, use "
                f"{either(OTHERS, f'--labels {shlex.quote(name)}, which also colours the rows by it')}."
            )
            notes.append(Note("target_column", text, {"column": name}))
    return notes


def _equal_steps(table: Floats, names: Sequence[str]) -> list[Note]:
    """A note for each column that changes by the same amount from row to row, as a time or a scale does."""
    steps = np.diff(table, axis=0)
    size = np.abs(steps.mean(axis=0))
    equal = np.flatnonzero((np.ptp(steps, axis=0) <= _EQUAL * size) & (size > 0.0)).tolist()
    notes = []
    for j in equal if len(equal) < table.shape[1] else ():
        text = (
            f"{quoted(names[j])} changes by the same amount from row to row, like a time or the scale of a series of "
            "measurements. To leave it out, use "
            f"{either(OTHERS, f'--labels {shlex.quote(names[j])}, which also colours the rows by it')}."
        )
        notes.append(Note("equal_steps", text, {"column": names[j]}))
    return notes


def _series(table: Floats, metadata: Metadata) -> list[Note]:
    """A note if consecutive rows are similar, as in a time series."""
    if len(table) < _SERIES_ROWS or table.shape[1] == 1:
        return []
    dated = _has_ordered_dates(metadata)
    if not dated:
        table = _without_order(table)
    own, steps = _consecutive(table), _consecutive(np.diff(table, axis=0))
    known = np.isfinite(own)
    if not known.any():
        return []
    typical = float(np.median(own[known]))
    smooth = float(np.median(np.nan_to_num(steps[known]))) > _NOISY_STEPS
    if typical < _DATED or not (dated or (typical >= _UNDATED and smooth)):
        return []
    text = (
        "Consecutive rows are similar, as in a time series: the correlation between a row and the next is "
        f"{typical:.2f} (median over the columns). The rules assume independent rows, so trends count as components, "
        "and clusters may be periods of time. To analyse changes instead, take differences first "
        "(pandas: table.diff().dropna())."
    )
    return [Note("series", text, {"correlation": typical})]


def _without_order(table: Floats) -> Floats:
    """The other columns without what a column explains by which the rows are sorted; the table if they are not sorted.

    In a table sorted by one column, correlated columns are similar in consecutive rows, although the rows are
    independent.
    """
    steps = np.diff(table, axis=0)
    ordered = np.flatnonzero(((steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)) & (steps != 0).any(axis=0))
    if not ordered.size or ordered.size == table.shape[1]:
        return table
    centred = table - table.mean(axis=0)
    key = centred[:, ordered[0]] / np.linalg.norm(centred[:, ordered[0]])
    others = np.delete(centred, ordered, axis=1)
    left: Floats = others - np.outer(key, key @ others)
    return left


def _consecutive(table: Floats) -> Floats:
    """The correlation of each column with itself one row later; NaN for constant columns."""
    first, second = (part - part.mean(axis=0) for part in (table[:-1], table[1:]))
    lengths = np.linalg.norm(first, axis=0) * np.linalg.norm(second, axis=0)
    found: Floats = np.divide(
        (first * second).sum(axis=0), lengths, out=np.full(table.shape[1], np.nan), where=lengths > 0
    )
    return found


def _has_ordered_dates(metadata: Metadata) -> bool:
    for values in (*metadata.labels.values(), metadata.row_names or ()):
        dates = dates_of("date", values)
        if dates is not None and np.isfinite(dates).all():
            steps = np.diff(dates)
            if (steps > 0).all() or (steps < 0).all():
                return True
    return False


def value_lines(matrix: np.ndarray, metadata: Metadata) -> RatingLines | None:
    """The entries of a table with one value per line; None if its lines are rows with names, or pairs mostly repeat."""
    lines = rating_lines(matrix, metadata)
    if lines is None or is_rating(lines.titles[2]):
        return lines
    named = not all(map(str.isdigit, metadata.row_names or ()))
    return None if named or 2 * len(lines.values) <= len(matrix) else lines


def note_on_lines(lines: RatingLines | None, metadata: Metadata) -> list[Note]:
    """A note on a table with one value per line, whose components mean nothing."""
    if lines is None:
        return []
    row, column, number = lines.titles
    if label_role(column, metadata.labels.get(column, ())) == "date":
        row, column = column, row
    row, column, number = quoted(row), quoted(column), quoted(number)
    seen = f"Each line has one value of a table: a row ({row}), a column ({column}) and a number ({number})."
    if is_rating(lines.titles[2]):
        remedy = f"Use {either('eckart.Ratings', _RECOMMEND)} instead of a decomposition."
    else:
        remedy = (
            f"First reshape the data to one line per {row} and one column per {column}, for example with "
            "pandas.pivot_table."
        )
    code = "rating_lines" if is_rating(lines.titles[2]) else "long_table"
    return [Note(code, f"{seen} The components of such a list would be meaningless. {remedy}")]
