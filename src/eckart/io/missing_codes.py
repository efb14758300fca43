"""Numbers that may stand for missing values: -999 among heights, 99 among answers from 1 to 5."""

from __future__ import annotations

import numpy as np

from eckart.notes import Note

CODES = (-99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0, 999999.0)
_SCALE_CODES = (-9.0, -8.0, 77.0, 88.0, 97.0, 98.0, 99.0)
"""Codes among the answers of surveys, such as 1 to 5. Among other numbers, they are likely values."""
_ALL = (*CODES, *_SCALE_CODES)
_GAPS = {code: 0.5 if code < 0 else 2.0 for code in _SCALE_CODES}
"""Distance of a code from the answers, relative to their range. An answer below 0 is unlikely where others are not."""
_LONGEST_SCALE = 20
_FEWEST = 3
"""Other values that a column needs before one of its values can be far from them."""


def code_notes(matrix: np.ndarray, names: list[str]) -> list[Note]:
    """A note for each code that occurs more than once, far from the other values of its columns."""
    if not len(matrix):
        return []
    columns: dict[float, list[tuple[str, int]]] = {}
    with np.errstate(invalid="ignore"):
        ends = np.stack([np.fmin.reduce(matrix, axis=0), np.fmax.reduce(matrix, axis=0)])
    for j in np.flatnonzero(np.isin(ends, _ALL).any(axis=0)).tolist():
        for code, count in _counts(matrix[:, j]).items():
            columns.setdefault(code, []).append((names[j], count))
    return [_note(code, found) for code, found in sorted(columns.items()) if sum(count for _, count in found) > 1]


def _counts(column: np.ndarray) -> dict[float, int]:
    """How often each code occurs that is far from all values which are not codes."""
    coded = np.isin(column, _ALL)
    others = column[np.isfinite(column) & ~coded]
    if len(others) < _FEWEST:
        return {}
    low, high = float(others.min()), float(others.max())
    scale = low >= 0 and high - low <= _LONGEST_SCALE and bool((others == np.rint(others)).all())
    found = {}
    for code in np.unique(column[coded]).tolist():
        apart = max(low - code, code - high)
        if apart > _GAPS.get(code, 1.0) * (high - low) and (scale or code in CODES):
            found[code] = int(np.count_nonzero(column == code))
    return found


def _note(code: float, found: list[tuple[str, int]]) -> Note:
    total = sum(count for _, count in found)
    where = repr(found[0][0]) if len(found) == 1 else f"{len(found)} columns"
    return Note(
        "missing_code",
        f"The value {code:g} occurs {total:,} times in {where} and is far from all other values. If "
        "it is a code for missing values, replace it with empty cells.",
        {"count": total},
    )
