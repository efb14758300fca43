"""Input (text, lists, arrays, SymPy matrices) as an exact SymPy matrix, within stated sizes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from eckart.errors import InputError, MissingValuesError, NotFiniteError
from eckart.worked.grammar import number
from eckart.worked.messages import tr, trn

if TYPE_CHECKING:
    from eckart.worked.solution import Value

_MOST_TEXT = 20_000
_NAMES = re.compile(r"[A-Za-z]")

REMEDIES = {
    "determinant": "numpy.linalg.slogdet", "rank": "numpy.linalg.matrix_rank", "eigen": "numpy.linalg.eigh or eig",
    "power_iteration": "scipy.sparse.linalg.eigs", "deflation": "scipy.sparse.linalg.eigs",
    "diagonalize": "numpy.linalg.eigh or eig",
    "pca": "'eckart report DATA' or eckart.PCA", "minor_components": "'eckart report DATA --which smallest'",
    "svd": "'eckart report DATA --method svd' or eckart.TruncatedSVD",
    "energy": "'eckart plan DATA --method svd --explain 0.9'", "query": "eckart.TruncatedSVD and its transform",
    "cur": "eckart.CUR", "nmf": "eckart.NMF",
    "kernel_pca": "eckart.KernelPCA",
    "select": "eckart.CorrelationFilter",
    "gram_schmidt": "numpy.linalg.qr", "project": "eckart.PCA and its transform",
    "correlation": "eckart.PCA(scale=True)", "bounds": "eckart.TruncatedSVD",
    "missing": "'eckart fit DATA --missing em'", "isomap": "eckart.Isomap",
}  # fmt: skip
"""For each exact solution, the counterpart for large data."""


def matrix(given: object, task: str, *, rows: int, columns: int) -> sp.Matrix:
    """The exact matrix, at most rows x columns.

    >>> matrix("1 2; 1/3 sqrt(2)", "svd", rows=9, columns=9)
    Matrix([
    [  1,       2],
    [1/3, sqrt(2)]])
    """
    cells = _cells(given)
    height, width = len(cells), len(cells[0]) if cells else 0
    if not height or not width:
        raise InputError(tr("The matrix is empty. Write rows separated by ';', such as \"1 2; 2 1\"."))
    for place, row in enumerate(cells, 1):
        if len(row) != width:
            raise InputError(
                trn("Row {place} has {n} entry, but row 1 has {width}. All rows of a matrix must have "
                "the same length. Separate rows with ';' and entries with spaces or commas.",
                    "Row {place} has {n} entries, but row 1 has {width}. All rows of a matrix must "
                    "have the same length. Separate rows with ';' and entries with spaces or "
                    "commas.", len(row), place=place, width=width)
            )  # fmt: skip
    if height > rows or width > columns:
        raise InputError(
            tr("The matrix is {height} x {width}, but exact steps are limited to {rows} x {columns}, "
            "because fractions and roots grow with every step. For a numerical result, use {remedy}.",
               height=height, width=width, rows=rows, columns=columns, remedy=REMEDIES[task])
        )  # fmt: skip
    return sp.Matrix([[_entry(cell) for cell in row] for row in cells])


def square(given: object, task: str, *, side: int) -> sp.Matrix:
    """The exact matrix, and square."""
    found = matrix(given, task, rows=side, columns=side)
    if found.rows != found.cols:
        size = {"rows": found.rows, "columns": found.cols}
        if task == "determinant":
            raise InputError(
                tr("The matrix is {rows} x {columns}, but only square matrices have determinants. Check "
                "whether an entry is missing. For a rectangular matrix, use svd or rank.", **size)
            )  # fmt: skip
        raise InputError(
            tr("The matrix is {rows} x {columns}, but only square matrices have eigenvalues. Check "
            "whether an entry is missing. For a rectangular matrix, use svd or rank.", **size)
        )  # fmt: skip
    return found


def vector(given: object, name: str, length: int, *, per_row: bool = False) -> sp.Matrix:
    """A column of this length."""
    cells = [cell for row in _cells(given) for cell in row]
    if len(cells) != length:
        raise InputError(
            trn("{name} has {n} entry, but it needs {length}, one for each column of the matrix.",
                "{name} has {n} entries, but it needs {length}, one for each column of the matrix.",
                len(cells), name=tr(name), length=length) if not per_row else
            trn("{name} has {n} entry, but it needs {length}, one for each row of the matrix.",
                "{name} has {n} entries, but it needs {length}, one for each row of the matrix.",
                len(cells), name=tr(name), length=length)
        )  # fmt: skip
    return sp.Matrix([_entry(cell) for cell in cells])


def _rows(given: object) -> list[Value]:
    """The rows of a sequence or an array."""
    if hasattr(given, "toarray"):
        given = given.toarray()
    if not isinstance(given, Sequence):
        given = np.asarray(given).tolist()
    if not isinstance(given, Sequence):
        raise InputError(
            tr('{given} is not a matrix. Enter rows, such as [[1, 2], [2, 1]] or "1 2; 2 1".', given=repr(given))
        )
    return [row.tolist() if isinstance(row, np.ndarray) else row for row in given]


def _cells(given: object) -> list[list[Value]]:
    if isinstance(given, str):
        return text_cells(given)
    if isinstance(given, sp.MatrixBase):
        return list(given.tolist())
    rows = _rows(given)
    nested = [isinstance(row, Sequence) and not isinstance(row, str) for row in rows]
    if rows and not any(nested):
        return [list(rows)]
    if not all(nested):
        raise InputError(tr("Some rows are lists and others are single entries. Enter every row as a list."))
    return [list(row) for row in rows]


def text_cells(text: str) -> list[list[str]]:
    """Split rows at ';' and line breaks, entries at commas or spaces; a first line of names is left out.

    >>> text_cells("a,b\\n1,2\\n3,4")
    [['1', '2'], ['3', '4']]
    >>> text_cells("[[1, 2], [3, 4]]")
    [['1', '2'], ['3', '4']]

    Decimal commas are recognised if spaces or semicolons separate the columns:

    >>> text_cells("0,5 1; 1 2"), text_cells("1,5;2\\n3;4,5")
    ([['0.5', '1'], ['1', '2']], [['1.5', '2'], ['3', '4.5']])
    """
    text = _unbracketed(text)
    lines = list(filter(str.strip, re.split(r"[\n\r]+", text)))
    table = _is_table(lines)
    if not table:
        lines = list(filter(str.strip, ";".join(lines).split(";")))
    if len(lines) > 1 and "\n" in text.strip() and _is_header(lines[0].replace(";", ",")):
        lines = lines[1:]
    if table or any(map(_has_spaced_numbers, lines)):
        lines = [re.sub(r"(?<=\d),(?=\d)", ".", line) for line in lines]
    if table:
        return [list(map(str.strip, line.split(";"))) for line in lines]
    return list(map(_split, lines))


def _unbracketed(text: str) -> str:
    """The text with semicolons instead of the brackets of rows."""
    if len(text) > _MOST_TEXT:
        raise InputError(
            tr("The text has {count} characters, but the limit is {most}. Save large data in a file.",
               count=len(text), most=_MOST_TEXT)
        )  # fmt: skip
    return re.sub(r"\]\s*,?\s*\[", ";", text).replace("[", "").replace("]", "")


def _is_table(lines: list[str]) -> bool:
    """Whether semicolons separate columns, not rows: every line has equally many."""
    return len(lines) > 1 and len({line.count(";") for line in lines}) == 1 and all(map(_has_columns, lines))


def _has_spaced_numbers(line: str) -> bool:
    """Whether numbers are adjacent without a comma in a line that has commas: these are decimal."""
    return "," in line and any(re.search(r"[\d)]\s+[-+\d]", cell) for cell in line.split(","))


def _has_columns(line: str) -> bool:
    """Whether semicolons separate the columns of a line, as in tables with decimal commas: 1,5;2,5."""
    return ";" in line.strip().rstrip(";") and not any(re.search(r"\S\s+\S", cell.strip()) for cell in line.split(";"))


def _is_header(line: str) -> bool:
    words = _split(line.replace("sqrt", ""))
    return all(_NAMES.search(word) or not word for word in words) and "(" not in line


def _split(line: str) -> list[str]:
    """Split at commas or tabs, otherwise at spaces; not inside parentheses."""
    line = line.strip()
    if "," in line or "\t" in line:
        return [cell.strip() for cell in re.split(r"[,\t]", line)]
    cells, depth, start = [], 0, 0
    for place, sign in enumerate(line):
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if sign.isspace() and depth <= 0:
            cells.append(line[start:place])
            start = place + 1
    return [cell for cell in [*cells, line[start:]] if cell]


def _written(cell: str) -> sp.Expr:
    if not cell.strip():
        raise MissingValuesError(
            tr(
                "An entry is empty, but an exact solution needs every number. Enter the missing number, or "
                "leave out the row."
            )
        )
    return number(cell)


def _fraction(cell: float) -> sp.Rational:
    """The decimal as typed, not its binary approximation."""
    if not np.isfinite(cell):
        kind = MissingValuesError if np.isnan(cell) else NotFiniteError
        raise kind(
            tr(
                "An entry is {cell}, but an exact solution needs every number. Enter the missing number, or "
                "leave out the row.",
                cell=cell,
            )
        )
    return sp.Rational(repr(cell))


def _entry(cell: object) -> sp.Expr:
    if isinstance(cell, str):
        return _written(cell)
    if isinstance(cell, sp.Expr):
        if cell.free_symbols or not cell.is_real:
            raise InputError(tr("The entry {cell} is not a real number. Use numbers, not letters.", cell=cell))
        return sp.nsimplify(cell) if cell.has(sp.Float) else cell
    if isinstance(cell, bool | np.bool_ | int | np.integer):
        return sp.Integer(int(cell))
    if isinstance(cell, float | np.floating):
        return _fraction(float(cell))
    if hasattr(cell, "numerator") and hasattr(cell, "denominator"):
        return sp.Rational(int(cell.numerator), int(cell.denominator))
    raise InputError(
        tr("The entry {cell} is not a number. Use integers, fractions, decimals or SymPy numbers.", cell=repr(cell))
    )
