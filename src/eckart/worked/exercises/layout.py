r"""Layouts around values: Markdown tables, prompts of consoles, rows between bars or slashes, sequences with a limit.

Text in, text out, as in `typed`: a table becomes one statement per named column, `(1 2 | 3 4)` a matrix.
"""

from __future__ import annotations

import re
from itertools import pairwise

from eckart.worked.exercises.lexicon import PLACES

_PROMPT = re.compile(r"(?m)^[^\S\n]*(?:>>>|>>|julia>|>(?=\s)|In\s?\[\d*\]:|\.\.\.(?=\s))[^\S\n]*")
_CALL = re.compile(
    r"(?m)^(?=[A-Za-z_\[])[\w, \[\]]*(?:=\s*|\w\.)[A-Za-z_][\w.]*\([^()\d]*\)[^\S\n]*(?:\([^()\d]*\)|;)?[^\S\n]*$\n?"
)
_SIZE = re.compile(r"(?m)^[^\S\n]*(?:\d+(?:[×x]\d+| ?-element)) [A-Z]\w*(?:\{[^\n]*\})?(?: with [^\n]*)?:?[^\S\n]*$\n?")
_BOLD = re.compile(r"(?<![^\s(:,;])\*\*(?=[^\s*])([^*\n]+?)(?<=\S)\*\*(?![^\s.,;:)])")
_RULE = re.compile(r"\s*\|?(?:\s*:?-{2,}:?\s*\|)+\s*(?::?-{2,}:?)?\s*")
_COUNTER = re.compile(r"(?i)\s*(?:row|column|col|point|component|pc|i|j|k|n|#|no\.?|riga|colonna|fila|columna|punto|"
                      r"строка|столбец|точка|componente|компонента|№)?\s*")  # fmt: skip
_ITEM = r"[-+]?(?:\d+(?:[./]\d+)?)(?:\([^()]*\))?"
_SEQUENCE = re.compile(rf"(?:(?<![\w.]){_ITEM}\s*,\s*){{1,}}(?:{_ITEM}\s*,?\s*)?(?:\.\.\.|…)\s*,?\s*")
_BARRED = re.compile(r"(?<=[(\[])([^()\[\]|]*\d[^()\[\]|]*(?:\|[^()\[\]|]*\d[^()\[\]|]*)+)(?=[)\]])")
_PLAIN = r"[-+−]?\d+(?:[./]\d+)?"
_LIST = rf"{_PLAIN}(?:(?:\s*,\s*|[^\S\n]+){_PLAIN})+"
_ROWS = re.compile(rf"[\[(][^\[\]()]*;[^\[\]()]*[\])]|(?<![\w.])({_LIST}(?: / {_LIST})+)")
_STEPS = re.compile(r"(?i)(?<![\w.])(?:after |dopo |tras |después de |после )?\d+ (?:iterations?|steps?|rounds?|"
                    r"iterazion[ei]|pass[oi]|iteraci(?:ón|ones)|pasos?|итераци\w*|шаг\w*)(?!\w)")  # fmt: skip
_NAME = re.compile(r"[^\W\d]+[\w.]*")
_NUMBER = re.compile(r"[-+−]?\d*[.,]?\d+(?:[eE][-+]?\d+)?")
_NUMERIC = re.compile(r"[-+\d./,\s()\[\]√^*]|sqrt")


_PLACED = re.compile(rf"(?i)(?<=[\d)])\s*\((?:{'|'.join(' '.join(PLACES.values()).split())})\s*(\d)\)")
_SERIES = ("a b c d e f", "а б в г д е", "i ii iii iv v vi", "1 2 3 4 5 6")
_LABEL = re.compile(r"(?<!\S)\(?([a-f]|[а-е]|[iv]{1,3}|[1-6])\)(?=\s)")


def itemised(text: str) -> str:
    """The text with a line for each part of an answer that is numbered a), b) or (i), (ii).

    >>> itemised("a) 2 b) rows 1 and 2 c) [1 0; 0 1]"), itemised("(i) 3, 1 (ii) (1, 0)"), itemised("(3, b) 2")
    ('2\\nrows 1 and 2\\n[1 0; 0 1]', '3, 1\\n(1, 0)', '(3, b) 2')
    """
    for series in _SERIES:
        found = _labels(text, series.split())
        if len(found) > 1 and not text[: found[0].start()].strip():
            ends = [label.start() for label in found[1:]] + [len(text)]
            return "\n".join(text[a.end() : b].strip() for a, b in zip(found, ends, strict=True))
    return text


def _labels(text: str, names: list[str]) -> list[re.Match[str]]:
    """The labels of parts outside of brackets that follow each other in a series."""
    found: list[re.Match[str]] = []
    for label in _LABEL.finditer(text):
        if label[1] == names[min(len(found), len(names) - 1)] and _is_closed(text[: label.start()]):
            found.append(label)
    return found


def _in_order(text: str) -> str:
    """The text without the places of values that are in their order.

    >>> _in_order("z: 2 (row 1), 3 (row 2)"), _in_order("z: 2 (row 2), 3 (row 1)")
    ('z: 2, 3', 'z: 2 (row 2), 3 (row 1)')
    """
    places = [0, *[int(found[1]) for found in _PLACED.finditer(text)]]
    ordered = all(place in {1, before + 1} for before, place in pairwise(places))
    return _PLACED.sub("", text) if ordered and max(places) > 1 else text


def _is_closed(text: str) -> bool:
    """Whether all brackets are closed, apart from those of labels such as `a)`."""
    plain = _LABEL.sub("", text)
    return all(plain.count(a) == plain.count(b) for a, b in ("()", "[]", "{}"))


def laid_out(text: str) -> str:
    """The text with tables, prompts, bars and slashes as plain lines.

    >>> laid_out("| column | r |\\n|---|---|\\n| 1 | 0.2 |\\n| 2 | -0.5 |")
    'r: 0.2, -0.5'
    >>> laid_out("D: 0 1 / 1 0"), laid_out("(1 2 | 3 4)"), laid_out("(1; 0,5 | 3; 4)"), laid_out("3, 6.1, ... -> 8")
    ('D: 0 1\\n1 0', '(1 2 ; 3 4)', '(1, 0.5 ; 3, 4)', '-> 8')
    >>> laid_out("julia> det(A)\\n4.0"), laid_out("2×2 Matrix{Float64}:\\n 1.0  0.5\\n 0.5  1.0"), laid_out("**4**")
    ('det(A)\\n4.0', ' 1.0  0.5\\n 0.5  1.0', '4')
    """
    text = _BOLD.sub(r"\1", _SIZE.sub("", _unframed(_in_order(itemised(text)))))
    text = _CALL.sub("", _PROMPT.sub("", re.sub(r"(?m)^\s*>>>? *([A-Za-z]\w*) *$", r"\1 =", text)))
    text = _sentences(text)
    text = _STEPS.sub("", _SEQUENCE.sub("", text))
    lines: list[str] = []
    table: list[list[str]] = []
    for line in [*text.split("\n"), ""]:
        if cells := _cells(line):
            table.append(cells)
        elif not (_RULE.fullmatch(line) and line.strip()):
            lines += _table(table)
            table = []
            lines.append(_slashed(line))
    return _BARRED.sub(lambda found: _barred(found[1]), "\n".join(lines[:-1]))


def _barred(inside: str) -> str:
    """The rows between bars; semicolons next to bars are between entries, and commas in decimals: `1; 0,5 | 0; 1`."""
    if ";" in inside:
        inside = re.sub(r"(?<=\d),(?=\d)", ".", inside).replace(";", ",")
    return inside.replace("|", ";")


def _unframed(text: str) -> str:
    """Without the names of the rows and columns of a printed data frame.

    >>> _unframed("     PC1  PC2\\nx1  0.6  0.8\\nx2  0.8 -0.6\\nk = 1")
    '0.6 0.8\\n0.8 -0.6\\nk = 1'
    """
    lines = text.split("\n")
    found: list[str] = []
    while lines:
        header = lines[0].split()
        height = _height(header, lines[1:]) if lines[0][:1].isspace() else 0
        found += [" ".join(line.split()[1:]) for line in lines[1 : height + 1]] if height else lines[:1]
        del lines[: height + 1]
    return "\n".join(found)


def _height(header: list[str], lines: list[str]) -> int:
    """The number of lines below a header that have a name and a number for each column; 0 if it is only one."""
    counted = header == [str(i) for i in range(len(header))]
    if len(header) < 2 or not (counted or all(map(_NAME.fullmatch, header))):
        return 0
    height = 0
    for line in lines:
        label, *cells = line.split() or [""]
        named = label == str(height) if counted else bool(_NAME.fullmatch(label) or re.fullmatch(r"\[\d+,\]", label))
        if not named or len(cells) != len(header) or not all(map(_NUMBER.fullmatch, cells)):
            break
        height += 1
    return height if height > 1 else 0


def _sentences(text: str) -> str:
    """With a line break behind a sentence that ends with a number; in `[1. 2.]` the points belong to the numbers."""
    pieces, depth, place = [], 0, 0
    for found in re.finditer(r"[(\[{]|[)\]}]|(?<=\d)\. +(?=[-+\d√])", text):
        depth += (found[0] in "([{") - (found[0] in ")]}")
        if found[0][0] == "." and not depth:
            pieces += [text[place : found.start() + 1], "\n"]
            place = found.end()
    return "".join([*pieces, text[place:]])


def _cells(line: str) -> list[str]:
    """The cells of a line of a table; none for other lines."""
    inside = line.strip()
    if _RULE.fullmatch(line) or "||" in inside or "|" not in inside:
        return []
    parts = [part.strip() for part in inside.strip("|").split("|")]
    ends = {inside[0], inside[-1]}
    if ends == {"|"}:
        return parts if len(parts) > 1 else []
    return parts if len(parts) < 7 and "|" not in ends and all(map(_is_cell, parts)) else []


def _is_cell(text: str) -> bool:
    """Whether a text is a whole value or a name: its brackets are closed, and it is not a norm or determinant."""
    return bool(text.strip()) and text.count("(") == text.count(")") and not re.search(r"[=:]", text)


def _is_name(text: str) -> bool:
    return bool(re.search(r"[^\W\d_]", _NUMERIC.sub("", text)))


def _table(table: list[list[str]]) -> list[str]:
    """A table as lines: one statement for each named column, or the rows below one name."""
    if not table or not any(map(_is_name, table[0])):
        return [", ".join(row) for row in table]
    header, *rows = table
    named = list(filter(None, header))
    if len(named) == 1 < len(header):
        return [f"{named[0]}:", *(", ".join(filter(None, row)) for row in rows)]
    columns = [column for column in zip(*table, strict=False) if not _counts(*column)]
    return [f"{name}: {', '.join(cells)}" for name, *cells in columns]


def _counts(name: str, *cells: str) -> bool:
    """Whether a column only numbers the rows."""
    numbers = [str(i) for i in range(1, len(cells) + 1)]
    return bool(_COUNTER.fullmatch(name)) and [re.sub(r"\D", "", cell) for cell in cells] == numbers


def _slashed(line: str) -> str:
    """`0 1 / 1 0` as two lines, if all are lists of the same length."""
    return _ROWS.sub(lambda found: _lines(found[1]) if found[1] else found[0], line)


def _lines(text: str) -> str:
    rows = text.split(" / ")
    return "\n".join(rows) if len({len(re.findall(_PLAIN, row)) for row in rows}) == 1 else text
