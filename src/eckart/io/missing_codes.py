"""Numbers that may stand for missing values: -999 among heights, 9999 among temperatures."""

from __future__ import annotations

import numpy as np

from eckart.notes import Note

CODES = (-99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0, 999999.0)
_FEWEST = 3
"""Other values that a column needs before one of its values can be far from them."""


def code_notes(matrix: np.ndarray, names: list[str]) -> list[Note]:
    """A note for each code that occurs more than once, far from the other values of its columns."""
    if not len(matrix):
        return []
    columns: dict[float, list[tuple[str, int]]] = {}
    with np.errstate(invalid="ignore"):
        ends = np.stack([np.fmin.reduce(matrix, axis=0), np.fmax.reduce(matrix, axis=0)])
    for j in np.flatnonzero(np.isin(ends, CODES).any(axis=0)).tolist():
        for code in {float(end) for end in ends[:, j]} & set(CODES):
            count = _count(matrix[:, j], code)
            if count:
                columns.setdefault(code, []).append((names[j], count))
    return [_note(code, found) for code, found in sorted(columns.items()) if sum(count for _, count in found) > 1]


def _count(column: np.ndarray, code: float) -> int:
    """How often the code occurs, if it is far from all other values; otherwise 0."""
    others = column[np.isfinite(column) & (column != code)]
    count = int(np.count_nonzero(column == code))
    if len(others) < _FEWEST:
        return 0
    spread = float(others.max() - others.min())
    return count if float(np.abs(others - code).min()) > spread else 0


def _note(code: float, found: list[tuple[str, int]]) -> Note:
    total = sum(count for _, count in found)
    where = repr(found[0][0]) if len(found) == 1 else f"{len(found)} columns"
    return Note(
        "missing_code",
        f"The value {code:g} occurs {total:,} times in {where} and is far from all other values. If "
        "it is a code for missing values, replace it with empty cells.",
        {"count": total},
    )
