"""Answers in the terms of the question: equations, combinations of rows, eigenpairs, entries, headings.

`A v = 4 v` states an eigenvalue, `r3 = 2 r1 - r2` the coordinates of a row, `E(5) = (1, 2)` an eigenvector next to its
eigenvalue, `A = [..] [..]` the factors of a product, and `covariance: v1 = ..` whose components they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal, localcontext
from itertools import product

from eckart.errors import InputError
from eckart.worked.exercises.arithmetic import CONTEXT, Grid, Linear, Typed, divided
from eckart.worked.exercises.eigenpairs import in_pairs
from eckart.worked.exercises.expressions import Reader
from eckart.worked.exercises.headings import carried, continued, headed, numbered, place_of, words
from eckart.worked.exercises.lexicon import CHOSEN, word_set, words_of
from eckart.worked.exercises.meaning import Meaning
from eckart.worked.exercises.rows import Row, named
from eckart.worked.exercises.symbols import SUBJECTS, Sense, normal
from eckart.worked.exercises.targets import Target
from eckart.worked.exercises.tokens import tokens_of

Rows = list[Row]
Targets = Sequence[Target]
_ZERO, _ONE = Typed(Decimal(0)), Typed(Decimal(1))
_FACTORS = (("U", "sigma", "V^T"), ("Q", "R"), ("V", "D", "V^-1"), ("W", "H"))
_PRODUCT = re.compile(r"A|M|U(?:S|D|[Ss]igma)V[Tt']|QR|([VPS])D\1(?:-1|T)|WH")
_PAIR = re.compile(r"([AMCSK])\s?([a-z](?:_?\d)?)")
_DYAD = re.compile(r"([a-z])_?([1-9])\s?([a-z])_?([1-9])(?:\^T|')")
_WITH = word_set("with con с")
_BARE = word_set("column ( and e y и")


def structured(rows: Rows, targets: Targets) -> Rows:
    """The rows in the terms of the question."""
    steps: tuple[Callable[[Rows, Targets], Rows], ...] = (
        carried, continued, _equations, _factored, _combined, _weighted, _correlations, _by_entry, headed, _keyed,
        in_pairs, numbered,
    )  # fmt: skip
    for step in steps:
        rows = step(rows, targets)
    return [row for row in rows if row.entries]


def _equations(rows: Rows, targets: Targets) -> Rows:
    """`A v = 4 v` as an eigenvalue, `A v1 = 4 u1` and `A = 4 u1 v1^T + ...` as singular values."""
    found: Rows = []
    sigma = place_of("sigma", targets)
    scalar = sigma if sigma is not None else place_of("lambda", targets)
    for row in rows:
        values = _scalars(row, sigma is not None) if scalar is not None else []
        found += [named([x], scalar, index) for x, index in values if scalar is not None] or [row]
    return found


def _scalars(row: Row, singular: bool) -> list[tuple[Typed, int]]:
    """The factors in an equation, and their indices."""
    if not row.symbol or not row.equals:
        return []
    left, right = row.symbol.symbol, row.equals[0].terms
    if left in SUBJECTS and (dyads := _dyads(right, singular)):
        return dyads
    pair = _PAIR.fullmatch(left)
    return _scalar(pair[2], right[0], singular) if pair is not None and len(right) == 1 else []


def _scalar(vector: str, term: tuple[str, Typed], singular: bool) -> list[tuple[Typed, int]]:
    """The factor in `A v1 = 4 v1`, or in `A v1 = 4 u1` for singular vectors; none if the vector is another one."""
    image = re.sub("^[a-z]", "u", vector) if singular else vector
    name, factor = term
    return [(factor, int(re.sub(r"\D", "", vector) or 0))] if normal(name) == normal(image) else []


def _dyads(terms: Sequence[tuple[str, Typed]], singular: bool) -> list[tuple[Typed, int]]:
    """The factors in `4 u1 v1^T + 2 u2 v2^T` or `4 v1 v1^T + 2 v2 v2^T`, with their indices; none for other terms."""
    pairs = [(x, one) for name, x in terms if (one := _DYAD.fullmatch(name)) and one[2] == one[4]]
    fitting = len(pairs) == len(terms) and all(
        (one[1] + one[3] == "uv") if singular else one[1] == one[3] for _, one in pairs
    )
    return [(x, int(one[2])) for x, one in pairs] if fitting else []


def _factored(rows: Rows, targets: Targets) -> Rows:
    """A product of matrices that equals A as the factors that the question asks for."""
    for names in _FACTORS:
        places = [place_of(name.removesuffix("^T"), targets) for name in names]
        if None in places:
            continue
        found: Rows = []
        for row in rows:
            matches = _PRODUCT.fullmatch(normal(row.title)) and row.is_vectors and len(row.entries) == len(names)
            parts = zip(row.entries, places, names, strict=False)
            found += [_factor(x, t, n) for x, t, n in parts if t is not None] if matches else [row]
        return found
    return rows


def _factor(entry: Grid | Typed, target: int, name: str) -> Row:
    row = named([entry], target)
    last = name == "V^T"
    return replace(row, meaning=replace(row.meaning, sense=Sense(target, transposed=last), title=name)) if last else row


def _combined(rows: Rows, targets: Targets) -> Rows:
    """`r3 = 2 r1 - r2` and `row 3: (2, -1)` as lines of the matrix of coordinates."""
    basis, target = place_of("basis", targets), place_of("coordinates", targets)
    if basis is None or target is None:
        return rows
    columns = [int(x) for x in targets[basis].value]
    lines, rest = _lines(rows, columns)
    if max(lines, default=0) > targets[target].value.rows:
        return rows  # r5 of a matrix with four rows
    if any(map(_is_combination, lines.items())):
        return [*rest, named([_coordinates(lines, columns)], target)]
    return _others(rest, rows) if lines else [row for row in rest if row.entries]


def _others(rest: Rows, rows: Rows) -> Rows:
    """The rows that are not lines of the matrix, without empty rows if a line is written as a sum."""
    return [row for row in rest if row.entries] if any(row.equals for row in rows) else rest


def _weighted(rows: Rows, targets: Targets) -> Rows:
    """`PC1 = 0.6 x1 + 0.8 x2` as the component with these entries."""
    place = next((i for i, one in enumerate(targets) if one.form == "directions"), None)
    if place is None or place_of("basis", targets) is not None:
        return rows
    length = targets[place].value.rows
    found: Rows = []
    for row in rows:
        weights = _weights(row, length)
        found.append(named([Grid((weights,))], place, row.meaning.sense.index) if weights else row)
    return found


def _weights(row: Row, length: int) -> tuple[Typed, ...]:
    """The factors of x_1, x_2, ... in the sum that a name stands for; none if there is another term."""
    if row.entries or len(row.equals) != 1:
        return ()
    terms = {index[1]: x for name, x in row.equals[0].terms if (index := re.fullmatch(r"[xX]_?([1-9])", name))}
    complete = len(terms) == len(row.equals[0].terms) > 1 and all(int(index) <= length for index in terms)
    return tuple(terms.get(str(i), _ZERO) for i in range(1, length + 1)) if complete else ()


def _lines(rows: Rows, basis: list[int]) -> tuple[dict[int, dict[int, Typed]], Rows]:
    """The coordinates by the number of the row, and the rows that have none."""
    lines: dict[int, dict[int, Typed]] = {}
    rest: Rows = []
    for row in rows:
        line = _line(row, basis)
        if line is None:
            rest.append(row)
        else:
            lines[line[0]] = line[1]
    return lines, rest


def _is_combination(line: tuple[int, dict[int, Typed]]) -> bool:
    """Whether a row is written with others, not as itself."""
    return set(line[1]) != {line[0]}


def _coordinates(lines: dict[int, dict[int, Typed]], basis: list[int]) -> Grid:
    """The matrix of coordinates, with those of the basis itself, which may be left out."""
    used = {row for line in lines.values() for row in line}
    columns = basis if used <= set(basis) else sorted(used)
    lines = {row: {row: _ONE} for row in columns} | lines
    return Grid(tuple(tuple(lines[row].get(j, _ZERO) for j in columns) for row in sorted(lines)))


def _line(row: Row, basis: list[int]) -> tuple[int, dict[int, Typed]] | None:
    """The number of a row, and its coordinates in the rows of the basis."""
    label = row.symbol
    if (solved := _solved(row, basis)) is not None:
        return solved
    if label is None or len(label.terms) != 1:
        place = row.meaning.index if row.meaning.targets else 0
        return _bare_line(row, place, basis)
    name, factor = label.terms[0]
    index = _row_number(name)
    if row.equals and index:
        terms = _terms(row.equals[-1].terms, factor)
        return (index, terms) if terms else None
    unnumbered = row.meaning.targets is not None and row.meaning.index == 0
    return None if unnumbered else _bare_line(row, index, basis)


def _solved(row: Row, basis: list[int]) -> tuple[int, dict[int, Typed]] | None:
    """`r1 + r2 - r3 = 0` and `r1 + r2 = r3`, solved for the one row that is not in the basis."""
    terms = _difference(row)
    factors = {_row_number(name): x for name, x in terms}
    others = [place for place in factors if place not in basis]
    if len(factors) < len(terms) or 0 in factors or len(others) != 1:
        return None
    rest = _terms([one for one in terms if _row_number(one[0]) != others[0]], _opposite(factors[others[0]]))
    return (others[0], rest) if rest else None


def _difference(row: Row) -> list[tuple[str, Typed]]:
    """The terms of the left-hand side minus those of the right-hand side; none if there is no such equation."""
    if row.symbol is None:
        return []
    left, zero = list(row.symbol.terms), row.is_number and not row.numbers[0].value
    if row.equals:
        return [*left, *((name, _opposite(x)) for name, x in row.equals[-1].terms)]
    return left if zero and len(left) > 1 else []


def _opposite(x: Typed) -> Typed:
    return replace(x, value=-x.value)


def _bare_line(row: Row, place: int, basis: list[int]) -> tuple[int, dict[int, Typed]] | None:
    """The numbers of a row as coordinates, if there are as many as the basis has rows."""
    return (place, dict(zip(basis, row.numbers, strict=True))) if place and _is_line(row, basis) else None


def _row_number(name: str) -> int:
    """3 for r_3; 0 for other names."""
    found = re.fullmatch(r"[^\W\d_]+_?([1-9])", name)
    return int(found[1]) if found else 0


def _terms(terms: Sequence[tuple[str, Typed]], factor: Typed) -> dict[int, Typed]:
    """The coordinates in `2 r1 - r2`, divided by a factor; none if that is 0 or another symbol is among them."""
    if not factor.value or not all(_row_number(name) for name, _ in terms):
        return {}
    with localcontext(CONTEXT):
        return {_row_number(name): divided(x, factor) for name, x in terms}  # type: ignore[misc]


def _is_line(row: Row, basis: list[int]) -> bool:
    return len(row.numbers) == len(basis) and not row.indices and (len(row.entries) == 1 or not row.is_vectors)


def _correlations(rows: Rows, targets: Targets) -> Rows:
    """`column 2 with r = 0.98` as a chosen column and its correlation; `column 1 has r = 0.25` is not a choice."""
    columns, r = place_of("columns", targets), place_of("correlations", targets)
    if columns is None or r is None:
        return rows
    marked = [Typed(Decimal(row.meaning.index)) for row in rows if _is_marked(row, r)]
    found, more = _with_columns(rows, r)
    chosen = [*marked, *more] or _headings(found, r, len(targets[r].value))
    explicit = any(row.indices or row.meaning.target == columns for row in found)
    return found if explicit or not chosen else [named(chosen, columns), *found]


def _with_columns(rows: Rows, target: int) -> tuple[Rows, list[Typed]]:
    """The rows with each correlation as that of the column in the row before it; the columns that this chooses."""
    found: Rows = []
    chosen: list[Typed] = []
    for row in rows:
        if not found or not _is_alone(row, target) or not _is_about(found[-1]):
            found.append(row)
            continue
        number = found.pop().numbers[0]
        chosen += [number] if _is_choice(row) else []
        found.append(row.means(target, int(number.value)))
    return found, chosen


def _headings(rows: Rows, target: int, count: int) -> list[Typed]:
    """The columns that are headings, `column 2: r1 = 0.4, r2 = 0.9`; one for each correlation chooses nothing."""
    own = [row for row in rows if row.meaning.target == target]
    heads = [index for row in own if ":" in row.label for index in _column_numbers(row)]
    return [Typed(Decimal(one)) for one in heads] if len(heads) < sum(len(row.numbers) for row in own) == count else []


def _column_numbers(row: Row) -> list[int]:
    return [item.index for item in row.label if isinstance(item, Linear) and item.symbol.startswith("column_")]


def _is_marked(row: Row, target: int) -> bool:
    """Whether the correlation of one column is marked as chosen: `column 2: 0.98 (selected)`."""
    column = row.meaning.sense.place == "column" and row.meaning.targets is None
    own = row.is_number and bool(row.meaning.index) and (column or row.meaning.target == target)
    return own and bool(CHOSEN & {item for item in row.after if isinstance(item, str)})


def _is_choice(row: Row) -> bool:
    return "(" in row.label or bool(_WITH & set(words_of(words(row))))


def _is_alone(row: Row, target: int) -> bool:
    """Whether a row is one number of a target that continues what is before it."""
    return row.meaning.target == target and row.is_number and not row.meaning.index and not row.starts


def _is_about(row: Row) -> bool:
    """Whether a row only says which column the next number is about."""
    return row.indices and len(row.entries) == 1 and all(item in _BARE for item in row.label)


def _by_entry(rows: Rows, targets: Targets) -> Rows:
    """`r11 = 3, r12 = 1, r22 = 2` as a matrix; entries below its diagonal may be left out."""
    found = rows
    for i, target in enumerate(targets):
        shape = getattr(target.value, "shape", (0, 0))
        letters = {name.lower() for name in target.names if len(name) == 1}
        own = {place: row for row in found if (place := _entry_place(row, letters))}
        every = set(product(range(1, shape[0] + 1), range(1, shape[1] + 1)))
        if min(shape) > 1 and _is_complete(set(own), every, target):
            found = [named([_from_entries(own, target)], i), *[row for row in found if row not in own.values()]]
    return found


def _from_entries(rows: dict[tuple[int, int], Row], target: Target) -> Grid:
    """The matrix with some entries; a symmetric one below its diagonal too."""
    entries = {place: row.numbers[0] for place, row in rows.items()}
    if target.value.is_symmetric():
        entries = {(b, a): x for (a, b), x in entries.items()} | entries
    height, width = target.value.shape
    return Grid(tuple(tuple(entries.get((a, b), _ZERO) for b in range(1, width + 1)) for a in range(1, height + 1)))


def _is_complete(places: set[tuple[int, int]], every: set[tuple[int, int]], target: Target) -> bool:
    """Whether all entries are given, or those above the diagonal of a triangular or symmetric matrix."""
    above = {(a, b) for a, b in every if a < b}
    if places in (every, above | {(a, b) for a, b in every if a == b}):
        return True
    # Last, because SymPy simplifies every entry to compare it with its mirror image.
    return places == above and not any(target.value.diagonal()) and bool(target.value.is_symmetric())


def _entry_place(row: Row, letters: set[str]) -> tuple[int, int] | None:
    match = re.fullmatch(r"([^\W\d_])[\s_]?\(?([1-9])\s*,?\s*([1-9])\)?", row.symbol.symbol) if row.symbol else None
    fits = match is not None and match[1].lower() in letters and row.is_number
    return (int(match[2]), int(match[3])) if match and fits else None


def _keyed(rows: Rows, targets: Targets) -> Rows:
    """`E(-6) = (1, 2)` as an eigenvalue and its vector."""
    vectors = next((i for i, one in enumerate(targets) if one.form in {"directions", "axes"}), None)
    if place_of("lambda", targets) is None or vectors is None:
        return rows
    return [one for row in rows for one in (_pair(row, vectors) if row.meaning.sense.key and row.is_vectors else [row])]


def _pair(row: Row, vectors: int) -> Rows:
    """The eigenvalue in a name, and the vector under it."""
    own = replace(row, meaning=Meaning(frozenset({vectors}), Sense(vectors), "v"))
    try:
        number = Reader(tokens_of(row.meaning.sense.key), product=2).read(0, named=True)[0][0]
    except InputError:
        return [own]
    return [Row((number,), Meaning(prose=True)), own] if isinstance(number, Typed) else [own]
