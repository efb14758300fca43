"""Whether the first record of a delimited text contains the names of the columns."""

from __future__ import annotations

import re
from itertools import pairwise

from eckart.io.text.cells import is_missing, is_number, is_value, is_word, plain_signs

_FEWEST_ON_A_SCALE = 8
"""Minimum number of header numbers for a scale, such as wavelengths; half as many records are needed."""
_MOST_CELLS = 10_000
"""Number of cells of the first records used to detect a header: a record may have millions of cells."""


def has_header(rows: list[list[str]], decimal: str) -> bool:
    """Whether the first record contains names: words above columns of numbers, or numbers that count up like years."""
    first, body = rows[0], rows[1:]
    if len(body) and len(first) < len(body[0]):
        return True
    first, body = first[:_MOST_CELLS], [row[:_MOST_CELLS] for row in body]
    words = [is_word(cell, decimal) for cell in first]
    if not body:
        return all(words)
    return _names_numbers(first, body, words, decimal)


def without_single_quotes(names: list[str]) -> list[str]:
    """The names without single quotes, if all names have them: some programs quote the header in this way only."""
    known = [name.strip() for name in names if name.strip()]
    if not known or not all(len(name) > 2 and name[0] == name[-1] == "'" for name in known):
        return names
    return [name.strip().strip("'") for name in names]


def _names_numbers(first: list[str], body: list[list[str]], words: list[bool], decimal: str) -> bool:
    """Whether the first record names the columns of numbers below it, or contains their scale, such as wavelengths."""
    columns = [_present(body, j) for j in range(len(first))]
    numeric = _numeric_among(columns, decimal)
    if not numeric:
        return any(words)
    named = _names_above(first, words, columns, numeric, len(body))
    measured = [j for j in numeric if not words[j]]
    return named or _is_scale([_chosen(row, measured) for row in (first, *body)], decimal)


def _chosen(row: list[str], indices: list[int]) -> list[str]:
    return [row[j] for j in indices if j < len(row)]


def _present_in(row: list[str], indices: list[int]) -> list[int]:
    """The columns among `indices` where a record has a value."""
    return [j for j in indices if not is_missing(row[j])]


def _present(rows: list[list[str]], j: int) -> list[str]:
    """The cells of column j that are not missing."""
    return [row[j] for row in rows if j < len(row) and not is_missing(row[j])]


def _names_above(first: list[str], words: list[bool], columns: list[list[str]], numeric: list[int], rows: int) -> bool:
    """Whether the first record names the `numeric` columns, among `columns` of `rows` records below it."""
    above = sum(words[j] for j in numeric)
    if 2 * above >= len(numeric):
        return True
    rest = [j for j in _present_in(first, numeric) if not words[j]]
    names = _chosen(first, rest)
    if not _counts_up(names):
        return False
    long = above > 0 and len(names) > 2
    return long or _corner(first, columns, rows) or _unlike(names, [columns[j] for j in rest])


def _numeric_among(columns: list[list[str]], decimal: str) -> list[int]:
    return [j for j, column in enumerate(columns) if _is_numeric(column, decimal)]


def _is_numeric(column: list[str], decimal: str) -> bool:
    """Whether more than half of the cells are numbers."""
    return 2 * sum(is_value(cell, decimal) for cell in column) > len(column) > 0


def _corner(first: list[str], columns: list[list[str]], rows: int) -> bool:
    """Whether the cell above a full first column is empty: an index was written without a name."""
    return not first[0].strip() and len(columns[0]) == rows


def _unlike(names: list[str], columns: list[list[str]]) -> bool:
    """Whether whole numbers stand above fractions, or years above other numbers."""
    if not names:
        return False
    cells = [cell.strip() for column in columns for cell in column]
    if any(not re.fullmatch(r"[+-]?\d+", cell) for cell in cells):
        return True
    years = re.compile(r"(1[5-9]|20)\d\d")
    return all(years.fullmatch(name.strip()) for name in names) and not any(years.fullmatch(cell) for cell in cells)


def _counts_up(cells: list[str]) -> bool:
    if not all(re.fullmatch(r"\s*\d{1,9}\s*", cell) for cell in cells):
        return False
    numbers = [int(cell) for cell in cells]
    return all(after == before + 1 for before, after in pairwise(numbers))


def _is_scale(records: list[list[str]], decimal: str) -> bool:
    """Whether the first record is the scale of a measured curve (wavelengths, times, depths) above its values.

    It increases or decreases in nearly equal steps, unlike most records below it, and each of its numbers is outside
    the range of its column. A data record is very unlikely to have all of these properties.
    """
    scale, *below = [_numbers(row, decimal) for row in records]
    below = [row for row in below if len(row) == len(scale)]
    if len(scale) < _FEWEST_ON_A_SCALE or len(below) < _FEWEST_ON_A_SCALE // 2:
        return False
    if not _has_even_steps(scale) or 2 * sum(map(_is_monotone, below)) > len(below):
        return False
    return all(not min(column) <= name <= max(column) for name, *column in zip(scale, *below, strict=True))


def _numbers(row: list[str], decimal: str) -> list[float]:
    """The cells of a record as numbers; empty if one of them is not a number."""
    if not all(is_number(cell.strip(), decimal) for cell in row):
        return []
    plain = [cell.strip().replace(".", "") if decimal == ",." else cell.strip() for cell in row]
    return [float(plain_signs(cell if decimal == "." else cell.replace(",", "."))) for cell in plain]


def _steps(row: list[float]) -> list[float]:
    return [after - before for before, after in pairwise(row)]


def _has_even_steps(row: list[float]) -> bool:
    """Whether all steps have one sign, and none is more than three times another."""
    steps = _steps(row)
    low, high = sorted((min(steps), max(steps)), key=abs)
    return low * high > 0 and abs(high) <= 3 * abs(low)


def _is_monotone(row: list[float]) -> bool:
    steps = _steps(row)
    return min(steps) > 0 or max(steps) < 0
