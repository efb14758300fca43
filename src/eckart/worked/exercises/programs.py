"""Matrices as R, MATLAB, NumPy, SymPy and Maple build them, and letters that an answer defines, as plain matrices.

Text in, text out, as in `typed`: `rbind(c(1, 2), c(3, 4))` is `[1, 2; 3, 4]`, `u, s = (a, b)` is `u = a; s = b`, and
with `r = 1/2`, `[1 r; r 1]` has the entries 1 and 1/2. What cannot be read is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_Rows = list[list[str]]
_CALL = re.compile(r"(?<![\w.])(?:np\.|numpy\.|sp\.|sympy\.)?"
                   r"(rbind|cbind|column_stack|row_stack|vstack|matrix|reshape|Matrix)\s*\(")  # fmt: skip
_VECTOR = re.compile(r"(?:(?:np\.|numpy\.)?array|c|list)?\s*[(\[](.*)[)\]]", re.DOTALL)
_SCALED = re.compile(r"((?:[-+\d./\s*]|sqrt\(\d+\)|\(1/sqrt\(\d+\)\))*?)(?:(?:np\.|numpy\.)?array|c|list)?[(\[]")
_COLUMNS = re.compile(r"<\s*(<[^<>]*>(?:\s*\|\s*<[^<>]*>)+)\s*>")
_LINES = re.compile(r"<\s*(<[^<>|]*(?:\|[^<>|]*)+>(?:\s*,\s*<[^<>|]*(?:\|[^<>|]*)+>)+)\s*>")
_ARGUMENT = re.compile(r"(nrow|ncol|byrow)\s*=\s*(\w+)")
_RESHAPED = re.compile(r"(?:np\.|numpy\.)?array\(\s*\[([^\[\]()]*(?:\([^()]*\)[^\[\]()]*)*)\]\s*\)\s*\.\s*"
                       r"reshape\(\s*\(?\s*(-?\d+)\s*,\s*(-?\d+)\s*\)?\s*\)")  # fmt: skip
_POWER = re.compile(r"(?<![\w.])(?:(?:np|numpy|linalg|LA)\.)*(?:MatrixPower|matrix_power|mpower)\s*"
                    r"[\[(]\s*([A-Z])\s*,\s*(\d)\s*[\])]")  # fmt: skip
_VARIABLE = r"[^\W\d]\w*(?:\^T|')?"
_UNPACKED = re.compile(
    rf"(?m)^[^\S\n]*([(\[{{]\s*)?({_VARIABLE}(?:\s*,\s*{_VARIABLE})+)(?(1)\s*[)\]}}])\s*=\s*(?=[(\[{{]|np\.|array|c\()"
)
_HEADED = re.compile(
    r"(?im)^[^\S\n]*(?:svd|qr|eigensystem|singularvaluedecomposition|qrdecomposition)[^\S\n]*(?:[(\[]\w*[)\]])?"
    r"[^\S\n]*[=:]+\s*(?=[(\[{])"
)
_VALUE = r"[-+]?(?:[\d.]|sqrt|cbrt)(?:[\d.^()*/+-]|sqrt|cbrt|\s(?=[-+*/])|(?<=[-+*/])\s)*"
_DEFINED = re.compile(rf"(?<![\w^_'(,])([a-z])\s*=\s*({_VALUE})(?=\s*(?:[;,\n]|$|\.(?:\s|$)))")
_LENGTH = re.compile(
    r"(?<=/)\s*(?:(?:(?:(?:np|numpy|scipy|linalg|LA|la)\.)*[nN]orm)\s*[\[(]|(‖|\|\|))\s*"
    r"(?:(?:np\.|numpy\.)?array\s*\()?c?[\[({]([^\[\](){}‖|]*)[\])}]\)?'?\s*(?:,\s*2\s*)?(?(1)(?:‖|\|\|)(?:_2)?|[\])])"
)
_COLUMN = r"Matrix\(\s*\[(?:\s*\[[^\[\]]*\]\s*,?)+\s*\]\s*\)"
_EIGENSPACE = rf"\(\s*(?:[^(),\[\]]|\([^()]*\))+,\s*\d+\s*,\s*\[\s*{_COLUMN}(?:\s*,\s*{_COLUMN})*\s*\]\s*\)"
_EIGENVECTS = re.compile(rf"\[\s*{_EIGENSPACE}(?:\s*,\s*{_EIGENSPACE})*\s*\]")
_BRACKET = re.compile(r"[(\[](?:[^()\[\]]|\([^()\[\]]*\))*[)\]]")

_SINGLE = r"\s*[-+]?[\d./]+\s*"


def as_matrices(text: str) -> str:
    """The text with calls that build matrices, and values assigned to several names, as plain matrices.

    >>> as_matrices("z = c(-1.5)")
    'z = (-1.5)'
    >>> as_matrices("rbind(c(1, 2), c(3, 4))"), as_matrices("matrix(c(1, 2, 3, 4), nrow = 2)")
    ('[1, 2; 3, 4]', '[1, 3; 2, 4]')
    >>> as_matrices("MatrixPower[A, 3]"), as_matrices("np.linalg.matrix_power(A, 3)")
    ('A^3', 'A^3')
    >>> as_matrices("np.array([1, 2, 3, 4]).reshape(2, -1)"), as_matrices("u, s = ([1, 2], [3, 4])")
    ('[1, 2; 3, 4]', 'u = [1, 2]; s = [3, 4]')
    """
    text = _POWER.sub(
        r"\1^\2", re.sub(rf"(?<=diag\()c(?=\()|(?<=[=:])\s*c(?=\({_SINGLE}\))", " ", _RESHAPED.sub(_reshaped, text))
    )
    place = 0
    while found := _CALL.search(text, place):
        end = _closed(text, found.end())
        rows = _BUILDERS[found[1]](split(text[found.end() : end])) if end else None
        shown = _bracketed(rows) if rows else ""
        text = text[: found.start()] + shown + text[end + 1 :] if shown else text
        place = found.start() + len(shown) if shown else found.end()
    return _unpacked(text)


def eigenspaces(text: str) -> str:
    """The text with a pair for each vector in what `eigenvects` of SymPy prints.

    >>> eigenspaces("[(-7, 1, [Matrix([[1], [1]])]), (9, 1, [Matrix([[3], [1]])])]")
    'lambda = -7: (1, 1); lambda = 9: (3, 1)'
    """
    return _EIGENVECTS.sub(_paired, text)


def _paired(found: re.Match[str]) -> str:
    pairs: list[str] = []
    for space in re.findall(_EIGENSPACE, found[0]):
        value = split(space[1:])[0]
        for column in re.findall(_COLUMN, space):
            entries = re.findall(r"\[([^\[\]]*)\]", column)
            pairs.append(f"lambda = {value}: ({', '.join(entry.strip() for entry in entries)})")
    return "; ".join(pairs)


def columns_of_maple(text: str) -> str:
    """The text with the columns and rows of Maple as plain rows.

    >>> columns_of_maple("V = <<1, 2>|<3, 4>>")
    'V = [1, 3; 2, 4]'
    >>> columns_of_maple("V = <<1|2>, <3|4>>")
    'V = [1, 2; 3, 4]'
    """
    plain = text.replace("⟨", "<").replace("⟩", ">")
    text = plain if _COLUMNS.search(plain) else text
    return _COLUMNS.sub(_of_columns, _LINES.sub(_of_lines, text))


def with_values(text: str) -> str:
    """The text with the values of letters that it defines, where a matrix or vector contains them.

    >>> with_values("r = 1/2; R = [1 r; -r 1]"), with_values("k = 2 (k is small)")
    ('r = 1/2; R = [1 (1/2); -(1/2) 1]', 'k = 2 (k is small)')
    """
    known = {name: value.strip() for name, value in _DEFINED.findall(text) if value.count("(") == value.count(")")}
    if not known:
        return text
    letters = "".join(known)
    filled = re.compile(rf"(?:[-+*/^.,;\d\s()\[\]]|sqrt|cbrt|(?<![^\W\d])[{letters}](?![\w=]))+")
    used = re.compile(rf"(?<![^\W\d])([{letters}])(?![\w(])")

    def replaced(bracket: re.Match[str]) -> str:
        inside = bracket[0]
        if not filled.fullmatch(inside) or not re.search(r"[\s,;]", inside[1:-1].strip()):
            return inside
        return used.sub(lambda letter: f"({known[letter[1]]})", inside)

    return _BRACKET.sub(replaced, text)


def lengths(text: str) -> str:
    """The text with a root for the length of a vector by which something is divided.

    >>> lengths("[2; -3]/norm([2; -3])"), lengths("(1, 1)/‖(1, 1)‖"), lengths("norm([1; 1]) = 2")
    ('[2; -3]/sqrt((2)^2+(-3)^2)', '(1, 1)/sqrt((1)^2+(1)^2)', 'norm([1; 1]) = 2')
    """
    return _LENGTH.sub(lambda found: f"sqrt({'+'.join(f'({x})^2' for x in _separate(found[2]))})", text)


def split(text: str) -> list[str]:
    """The parts between commas that are not inside brackets."""
    parts, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and not depth:
            parts.append(text[start:place].strip())
            start = place + 1
    return [part for part in (*parts, text[start:].strip()) if part]


def _closed(text: str, start: int) -> int:
    """Where the bracket that is open before a place is closed; 0 if it is not."""
    depth = 1
    for place in range(start, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if not depth:
            return place
    return 0


def _entries(text: str) -> list[str]:
    """The entries of a vector, each with its factor or divisor, or the one number: `c(1, 2)/3` has 1/3 and 2/3."""
    found = _SCALED.match(text.strip())
    end = _closed(text.strip(), found.end()) if found else 0
    if found is None or not end:
        return [text.strip()]
    before, after = found[1], text.strip()[end + 1 :].strip()
    if after and (after[0] not in "*/" or re.search(r"[\[{,;=]", after)):
        return [text.strip()]
    entries = split(text.strip()[found.end() : end])
    return [f"{before}({entry}){after}" for entry in entries] if before or after else entries


def _bracketed(rows: _Rows) -> str:
    """A matrix in brackets; "" if its rows differ in length or contain something else than numbers."""
    plain = all(re.fullmatch(r"[^()\[\]{}=:;]*(?:\([^()]*\)[^()\[\]{}=:;]*)*", entry) for row in rows for entry in row)
    same = len({len(row) for row in rows}) == 1
    return "[{}]".format("; ".join(", ".join(row) for row in rows)) if plain and same else ""


def _stacked(arguments: list[str]) -> _Rows:
    """The vectors of a call, one by one or in one list."""
    listed = _entries(arguments[0]) if len(arguments) == 1 else arguments
    return [_entries(one) for one in listed]


def _beside(arguments: list[str]) -> _Rows | None:
    rows = _stacked(arguments)
    return [list(column) for column in zip(*rows, strict=True)] if len({len(row) for row in rows}) == 1 else None


def _matrix(arguments: list[str]) -> _Rows | None:
    """`matrix(c(...), nrow, ncol, byrow)` of R, column by column unless by rows."""
    named = {found[1]: found[2] for one in arguments if (found := _ARGUMENT.fullmatch(one))}
    plain = [one for one in arguments if not _ARGUMENT.fullmatch(one)]
    sizes = dict(zip(("nrow", "ncol", "byrow"), plain[1:], strict=False)) | named
    entries = _entries(plain[0]) if plain else []
    if not sizes or len(entries) < 2:
        return None
    by_row = sizes.get("byrow", "F").upper().startswith("T")
    return _filled(entries, sizes.get("nrow", "-1"), sizes.get("ncol", "-1"), by_row=by_row)


def _by_columns(arguments: list[str]) -> _Rows | None:
    """`reshape([..], 2, 3)` of MATLAB."""
    if len(arguments) != 3:
        return None
    return _filled(_bare(arguments[0]), arguments[1], arguments[2], by_row=False)


def _bare(text: str) -> list[str]:
    """The entries of a vector that spaces, commas or semicolons separate."""
    inside = _VECTOR.fullmatch(text)
    return _separate(inside[1]) if inside else []


def _separate(text: str) -> list[str]:
    return re.split(r"\s*[,;]\s*|\s+", text.strip())


def _of_columns(found: re.Match[str]) -> str:
    columns = [split(column) for column in re.findall(r"<([^<>]*)>", found[1])]
    rows = [list(row) for row in zip(*columns, strict=False)]
    return (_bracketed(rows) if len({*map(len, columns)}) == 1 else "") or found[0]


def _of_lines(found: re.Match[str]) -> str:
    rows = [[entry.strip() for entry in row.split("|")] for row in re.findall(r"<([^<>]*)>", found[1])]
    return _bracketed(rows) or found[0]


def _sized(arguments: list[str]) -> _Rows | None:
    """`Matrix(2, 2, [..])` of SymPy, and `Matrix(2, 2, [[..], [..]])` of Maple."""
    if len(arguments) != 3:
        return None
    entries = _entries(arguments[2])
    listed = [number for entry in entries for number in (_entries(entry) if entry[:1] == "[" else [entry])]
    return _filled(listed, arguments[0], arguments[1], by_row=True)


_BUILDERS: dict[str, Callable[[list[str]], _Rows | None]] = {
    "rbind": _stacked, "row_stack": _stacked, "vstack": _stacked, "cbind": _beside, "column_stack": _beside,
    "matrix": _matrix, "reshape": _by_columns, "Matrix": _sized,
}  # fmt: skip


def _filled(entries: list[str], height: str, width: str, *, by_row: bool) -> _Rows | None:
    """Entries in a matrix of a size of which one number may be -1, for as many as there are; None if it has another."""
    if not all(re.fullmatch(r"-?\d{1,2}", size) for size in (height, width)):
        return None
    rows, cols = int(height), int(width)
    rows, cols = rows if rows > 0 else len(entries) // max(cols, 1), cols if cols > 0 else len(entries) // max(rows, 1)
    if rows * cols != len(entries):
        return None
    if by_row:
        return [entries[i * cols : (i + 1) * cols] for i in range(rows)]
    return [entries[i::rows] for i in range(rows)]


def _reshaped(found: re.Match[str]) -> str:
    """`array([..]).reshape(2, 3)` of NumPy, row by row."""
    rows = _filled(split(found[1]), found[2], found[3], by_row=True)
    return (_bracketed(rows) if rows else "") or found[0]


def _unpacked(text: str) -> str:
    """`u, s, vt = (a, b, c)` as three statements, and `SVD = (a, b, c)` as the values alone."""
    text, place = _HEADED.sub("", text), 0
    while found := _UNPACKED.search(text, place):
        names = split(found[2])
        place, end = found.end(), _line_end(text, found.end())
        values = split(text[found.end() : end])
        if len(values) == 1 and _closed(values[0], 1) == len(values[0]) - 1:
            values = split(values[0][1:-1])
        if len(values) == len(names):
            shown = "; ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))
            text = text[: found.start()] + shown + text[end:]
            place = found.start() + len(shown)
    return text


def _line_end(text: str, start: int) -> int:
    """Where the line ends on which no bracket is open."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if text[place] in "\n;" and not depth:
            return place
    return len(text)
