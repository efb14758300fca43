"""Values that stand for something else: codes for missing values, answers in words, numbers padded with zeros."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from eckart.formatting import counted, joined, quoted
from eckart.notes import Note
from eckart.wording import either

CODES = (-99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0, 999999.0)
_SCALE_CODES = (-9.0, -8.0, 77.0, 88.0, 97.0, 98.0, 99.0)
"""Codes among the answers of surveys, such as 1 to 5. Among other numbers, they are likely values."""
_ALL = (*CODES, *_SCALE_CODES)
_GAPS = {code: 0.5 if code < 0 else 2.0 for code in _SCALE_CODES}
"""Distance of a code from the answers, relative to their range. An answer below 0 is unlikely where others are not."""
_LONGEST_SCALE = 20
_FEWEST_OTHERS = 3
"""Other values that a column needs before one of its values can be far from them."""
_FEWEST_COLUMNS = 3
_MOST_ANSWERS = 11
"""Scales from 0 to 10 have this many answers."""
_SHARED = 2
"""Answers that two columns need in common; of two columns, one may lack rare answers."""
_DIGITS = re.compile(r"\d{2,}", re.ASCII)
_ROLE = re.compile(r"analysed, although padded with zeros to (\d+) digits")
_FEWEST_CELLS = 3
"""Cells that must have the same number of digits."""


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
    return [_code_note(code, found) for code, found in sorted(columns.items()) if sum(count for _, count in found) > 1]


def _counts(column: np.ndarray) -> dict[float, int]:
    """How often each code occurs that is far from all values which are not codes."""
    coded = np.isin(column, _ALL)
    others = column[np.isfinite(column) & ~coded]
    if len(others) < _FEWEST_OTHERS:
        return {}
    low, high = float(others.min()), float(others.max())
    scale = low >= 0 and high - low <= _LONGEST_SCALE and bool((others == np.rint(others)).all())
    found = {}
    for code in np.unique(column[coded]).tolist():
        apart = max(low - code, code - high)
        if apart > _GAPS.get(code, 1.0) * (high - low) and (scale or code in CODES):
            found[code] = int(np.count_nonzero(column == code))
    return found


def _code_note(code: float, found: list[tuple[str, int]]) -> Note:
    total = sum(count for _, count in found)
    where = repr(found[0][0]) if len(found) == 1 else f"{len(found)} columns"
    return Note(
        "missing_code",
        f"The value {code:g} occurs {total:,} times in {where} and is far from all other values. If "
        f"it is a code for missing values, use {either(f'missing_values=[{code:g}]', f'--missing-values={code:g}')}.",
        {"count": total},
    )


def answer_notes(columns: Mapping[str, Sequence[str]]) -> list[Note]:
    """A note for each group of text columns with the same few answers."""
    return [_answer_note(names, answers) for names, answers in _groups(columns) if len(names) >= _FEWEST_COLUMNS]


def _groups(columns: Mapping[str, Sequence[str]]) -> list[tuple[list[str], set[str]]]:
    """Columns whose answers are among those of another column, or contain them, with all answers of the group."""
    found: list[tuple[list[str], set[str]]] = []
    for name, values in columns.items():
        answers = set(values) - {""}
        if not _SHARED <= len(answers) <= min(_MOST_ANSWERS, len(values) // 2):
            continue
        for names, known in found:
            if len(answers & known) >= _SHARED and len(answers | known) <= _MOST_ANSWERS:
                names.append(name)
                known.update(answers)
                break
        else:
            found.append(([name], answers))
    return found


def _answer_note(names: Sequence[str], answers: set[str]) -> Note:
    words = joined([quoted(answer) for answer in sorted(answers)])
    numbers = "0 and 1" if len(answers) == 2 else f"1 to {len(answers)}"
    text = (
        f"{counted(len(names), 'column')} with text, such as {quoted(names[0])}, contain the same answers: {words}. If "
        f"these are ordered, replace them with numbers, such as {numbers}, to analyse the columns."
    )
    return Note("answers", text, {"columns": tuple(names)})


def padded_role(cells: Sequence[str]) -> str:
    """The role of a column of numbers that are padded with zeros; empty for other columns.

    `cells` are the first cells of the column. Numbers without zeros in front, as in 7 and 12, are quantities.
    """
    cells = list(map(str.strip, cells))
    if not any(cell.startswith("0") for cell in cells):
        return ""
    digits = [cell for cell in cells if _DIGITS.fullmatch(cell)]
    padded = any(cell.startswith("0") for cell in digits) and len(set(map(len, digits))) == 1
    known = sum(any(map(str.isdigit, cell)) for cell in cells)
    if not padded or not _FEWEST_CELLS <= len(digits) == known:
        return ""
    return f"analysed, although padded with zeros to {len(digits[0])} digits"


def padded_columns(roles: Mapping[str, str]) -> dict[str, int]:
    """Columns whose numbers are padded with zeros, and to how many digits."""
    found = {name: _ROLE.fullmatch(role) for name, role in roles.items()}
    return {name: int(match[1]) for name, match in found.items() if match}
