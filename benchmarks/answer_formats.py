"""Numbers, vectors and matrices as text: exact, decimal, LaTeX, Unicode, and as programs print them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from benchmarks.answer_values import Value

AND = {"en": "and", "it": "e", "es": "y", "ru": "и"}
ROWS = {"en": "rows", "it": "righe", "es": "filas", "ru": "строки"}
COLUMNS = {"en": "columns", "it": "colonne", "es": "columnas", "ru": "столбцы"}
COLUMN = {"en": "column", "it": "colonna", "es": "columna", "ru": "столбец"}


@dataclass(frozen=True)
class Format:
    """How numbers and brackets are written."""

    name: str
    exact: bool = False
    comma: bool = False
    latex: bool = False
    unicode: bool = True
    digits: int = 4
    nested: bool = False

    def number(self, value: Any) -> str:
        value = sp.sympify(value)
        if value.is_Integer:
            return str(value).replace("-", "−" if self.name == "typeset" else "-")
        if self.exact and self.latex:
            return str(sp.latex(value))
        if self.exact:
            text = str(sp.sstr(value)).replace("**", "^")
            return text.replace("sqrt", "√").replace("*√", "√").replace("*", "·") if self.unicode else text
        number = float(value)
        size = 0 if abs(number) < 1e-12 else max(0, int(np.ceil(-np.log10(abs(number)))))
        text = f"{0.0 if abs(number) < 1e-12 else number:.{self.digits + size}f}"
        return text.replace(".", "{,}" if self.latex else ",") if self.comma else text

    def items(self, values: Sequence[Any], last: str = "") -> str:
        between = "; " if self.comma else ", "
        shown = [self.number(x) for x in values]
        if last and len(shown) > 1:
            return f"{between.join(shown[:-1])} {last} {shown[-1]}"
        return between.join(shown)

    def vector(self, column: Any) -> str:
        """`(1, 2)/√5` for exact unit vectors, otherwise the numbers in parentheses."""
        if self.exact and (whole := _whole(column)) is not None:
            numbers, root = whole
            inside = ", ".join(map(str, numbers))
            if root == 1:
                return f"({inside})"
            return (
                rf"\frac{{1}}{{{sp.latex(root)}}}({inside})"
                if self.latex
                else f"({inside})/{_divisor(self.number(root))}"
            )
        return ("[{}]" if self.nested else "({})").format(self.items(list(column)))

    def matrix(self, matrix: Any) -> str:
        rows = [[self.number(x).replace(" ", "") for x in matrix.row(i)] for i in range(matrix.rows)]
        if self.latex:
            return r"\begin{pmatrix} " + r" \\ ".join(" & ".join(row) for row in rows) + r" \end{pmatrix}"
        if self.nested:
            return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"
        return "[" + "; ".join(" ".join(row) for row in rows) + "]"


def _divisor(root: str) -> str:
    return root if root.startswith(("√", "sqrt")) or root.isdigit() else f"({root})"


def _whole(column: Any) -> tuple[list[int], Any] | None:
    """Whole numbers and the root that divides them; None if there are none."""
    squares = [sp.expand(sp.sympify(x) ** 2) for x in column]
    if not all(x.is_Rational for x in squares):
        return None
    below = sp.ilcm(1, *[x.q for x in squares])
    for factor in (below, *[below * k for k in (2, 3, 5, 6, 10)]):
        roots = [sp.sqrt(x * factor) for x in squares]
        if all(root.is_Integer for root in roots) and any(roots):
            numbers = [int(root) * (1 if x >= 0 else -1) for root, x in zip(roots, column, strict=True)]
            return numbers, sp.sqrt(factor)
    return None


ASCII = Format("ascii", exact=True, unicode=False)
UNICODE = Format("unicode", exact=True)
TYPESET = Format("typeset", exact=True)
LATEX = Format("latex", exact=True, latex=True)
DECIMAL = Format("decimal")
SHORT = Format("short", digits=3)
NESTED = Format("nested", nested=True)
LONG = Format("long", nested=True, digits=8)
COMMA = Format("comma", comma=True, digits=3)


def is_exact(key: Sequence[Value]) -> bool:
    numbers = [x for v in key if v.form != "edges" for x in (v.value if hasattr(v.value, "__iter__") else [v.value])]
    return not any(sp.sympify(x).has(sp.Float) for x in numbers)


def body(kind: str, language: str, value: Value, form: Format, *, whole: bool = False, last: str = "") -> str:
    """The text of a value; `whole` writes vectors as one matrix, `last` joins the last item of a list."""
    own = value.value
    if value.form in {"number", "count"}:
        return form.number(own)
    if value.form == "edges":
        return ", ".join(f"{i}-{j}" for i, j in own)
    if value.form == "set":
        return chosen(kind, language, own, last)
    if isinstance(own, list):
        return form.items(own, last)
    if value.form in {"directions", "axes"} and not whole:
        vectors = [form.vector(own[:, j]) for j in range(own.cols)]
        return f"{', '.join(vectors[:-1])} {last} {vectors[-1]}" if last and len(vectors) > 1 else ", ".join(vectors)
    if value.form == "scores" and 1 in own.shape and not whole:
        return form.items(list(own), last)
    return form.vector(own[:, 0]) if whole and own.cols == 1 and value.form != "matrix" else form.matrix(own)


def chosen(kind: str, language: str, numbers: Sequence[Any], last: str = "") -> str:
    """`rows 1, 2`, `column 3`."""
    shown = list(map(str, map(int, numbers)))
    joined = f"{', '.join(shown[:-1])} {last} {shown[-1]}" if last and len(shown) > 1 else ", ".join(shown)
    words = ROWS if kind == "rank" else COLUMNS if len(shown) > 1 else COLUMN
    return f"{words[language]} {joined}"
