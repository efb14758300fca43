"""Brackets that can be read in several ways: products of a column and a row, rows in rows, rows between slashes.

Text in, text out: each function gives another reading for `spellings`, or the text unchanged.
"""

from __future__ import annotations

import re

_LIST = r"(?:[^()\[\]{}=]|\([^()=]*\))*"
_ROUND, _SQUARE = rf"\({_LIST}\)", rf"\[{_LIST}\]"
_OUTER = re.compile(rf"(?:np\.|numpy\.)?outer\(\s*c?({_ROUND}|{_SQUARE})\s*,\s*c?({_ROUND}|{_SQUARE})\s*\)")
_PAIR = re.compile(rf"({_ROUND}'|{_SQUARE}'?)\s*(?:\*|⊗|%o%|%\*%)?\s*(?=({_ROUND}|{_SQUARE})(?!\s*'))")
_NESTED = re.compile(rf"(?<![^\W\d_])([A-Z](?:\^\d)?\s*=\s*)\(\s*({_ROUND}(?:\s*[,;]\s*{_ROUND})+)\s*\)")
_SLASHED = re.compile(r"[\[(]([^\[\]()=]*;[^\[\]()=]*\s/\s[^\[\]()=]*)[\])]")


def with_products(text: str) -> str:
    """The text with a column next to a row as their product.

    >>> with_products("A_1 = 4 [2; 1] [1 -1]"), with_products("np.outer([2, 1], [1, -1])")
    ('A_1 = 4 [2; 1]*[1 -1]', "[2, 1]'*[1, -1]")
    >>> with_products("[1 2] [3 4]"), with_products("(1, 2)' (3, 4)'")
    ('[1 2] [3 4]', "(1, 2)' (3, 4)'")
    """
    text = _OUTER.sub(r"\1'*\2", text)
    place = 0
    while found := _PAIR.search(text, place):
        column, row, place = found[1], found[2], found.end()
        if _is_column(column) and _is_row(row):
            left, right = _entries(column), _entries(row)
            text = f"{text[: found.start()]}{left}*{right}{text[found.end() + len(row) :]}"
            place = found.start() + len(left) + 1
    return text


def _is_column(vector: str) -> bool:
    """Whether a bracket is a column: transposed, or with nothing but semicolons."""
    inside = vector.rstrip("'")[1:-1]
    if vector.endswith("'"):
        return ";" not in inside if vector[0] == "[" else re.search(r"[,;]", inside) is not None
    return ";" in inside and all(re.fullmatch(r"\s*\S+\s*", entry) for entry in inside.split(";"))


def _is_row(vector: str) -> bool:
    inside = vector[1:-1].strip()
    return bool(re.search(r"[,;]", inside) if vector[0] == "(" else re.search(r"[,\s]", inside) and ";" not in inside)


def _entries(vector: str) -> str:
    """A vector in parentheses with commas between its entries, and points for decimal commas."""
    if vector[0] != "(" or ";" not in vector:
        return vector
    return vector.replace(",", ".").replace(";", ",")


def with_nested_rows(text: str) -> str:
    """The text with `V = ((1, 2), (3, 4))` as a matrix with these rows; as a list, they are its columns.

    >>> with_nested_rows("V = ((1; 0,5), (3; 4))"), with_nested_rows("((1, 2), (3, 4))")
    ('V = [1, 0.5; 3, 4]', '((1, 2), (3, 4))')
    """

    def rows(found: re.Match[str]) -> str:
        inner = [_entries(row)[1:-1] for row in re.findall(_ROUND, found[2])]
        return f"{found[1]}[{'; '.join(inner)}]"

    return _NESTED.sub(rows, text)


def with_slashes(text: str) -> str:
    """The text with `[1; 0,5 / 3; 4]` as a matrix, if all rows have the same length.

    >>> with_slashes("[1; 0,5 / 3; 4]"), with_slashes("(1; 1 / 2; 3)"), with_slashes("(1; 1 / 2)")
    ('[1, 0.5; 3, 4]', '[1, 1; 2, 3]', '(1; 1 / 2)')
    """

    def matrix(found: re.Match[str]) -> str:
        rows = [row.split(";") for row in re.split(r"\s/\s", found[1])]
        if len({len(row) for row in rows}) > 1:
            return found[0]
        return "[{}]".format("; ".join(", ".join(x.strip().replace(",", ".") for x in row) for row in rows))

    return _SLASHED.sub(matrix, text)
