"""Answers in the terms of the question: equations, combinations of rows, eigenpairs, entries, headings.

`A v = 4 v` states an eigenvalue, `r3 = 2 r1 - r2` the coordinates of a row, `E(5) = (1, 2)` an eigenvector next to its
eigenvalue, `A = [..] [..]` the factors of a product, and `covariance: v1 = ..` whose components they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal, localcontext

from eckart.errors import InputError
from eckart.worked.exercises.arithmetic import CONTEXT, Grid, Typed, divided
from eckart.worked.exercises.eigenpairs import in_pairs
from eckart.worked.exercises.expressions import Reader
from eckart.worked.exercises.headings import carried, continued, headed, numbered, place_of, words
from eckart.worked.exercises.lexicon import word_set, words_of
from eckart.worked.exercises.meaning import Meaning
from eckart.worked.exercises.rows import Row, named
from eckart.worked.exercises.symbols import Sense, normal
from eckart.worked.exercises.targets import Target
from eckart.worked.exercises.tokens import tokens_of

Rows = list[Row]
Targets = Sequence[Target]
_ZERO, _ONE = Typed(Decimal(0)), Typed(Decimal(1))
_FACTORS = (("U", "sigma", "V^T"), ("Q", "R"), ("V", "D", "V^-1"))
_PAIR = re.compile(r"([AMCSK])\s?([a-z](?:_?\d)?)")
_DYAD = re.compile(r"u_?([1-9])\s?v_?([1-9])(?:\^T|')")
_WITH = word_set("with con с")
_BARE = word_set("column ( and e y и")


def structured(rows: Rows, targets: Targets) -> Rows:
    """The rows in the terms of the question."""
    steps: tuple[Callable[[Rows, Targets], Rows], ...] = (
        carried, continued, _equations, _factored, _combined, _correlations, _by_entry, headed, _keyed, in_pairs,
        numbered,
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
    left = row.symbol.symbol if row.symbol else ""
    right = row.equals[0].terms if row.equals else ()
    dyads = [_DYAD.fullmatch(name) for name, _ in right]
    if singular and left == "A" and right and all(one and one[1] == one[2] for one in dyads):
        return [(x, int(one[1])) for (_, x), one in zip(right, dyads, strict=True) if one]
    pair = _PAIR.fullmatch(left)
    if pair is None or len(right) != 1:
        return []
    image = right[0][0]
    same = normal(image) == normal(pair[2]) if not singular else normal(image) == normal(re.sub("^[a-z]", "u", pair[2]))
    digit = re.search(r"\d", pair[2])
    return [(right[0][1], int(digit[0]) if digit else 0)] if same else []


def _factored(rows: Rows, targets: Targets) -> Rows:
    """A product of matrices that equals A as the factors that the question asks for."""
    for names in _FACTORS:
        places = [place_of(name.removesuffix("^T"), targets) for name in names]
        if None in places:
            continue
        found: Rows = []
        for row in rows:
            matches = row.title in {"A", "M"} and row.is_vectors and len(row.entries) == len(names)
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
    lines: dict[int, dict[int, Typed]] = {}
    rest: Rows = []
    for row in rows:
        line = _line(row, columns)
        if line is None:
            rest.append(row)
        else:
            lines[line[0]] = line[1]
    used = {row for line in lines.values() for row in line}
    if not any(set(line) != {row} for row, line in lines.items()):
        return rest if lines and not any(row.equals for row in rows) else [r for r in rest if r.entries]
    if not used <= set(columns):
        columns = sorted(used)
    lines = {row: {row: _ONE} for row in columns} | lines
    grid = Grid(tuple(tuple(lines[row].get(j, _ZERO) for j in columns) for row in sorted(lines)))
    return [*rest, named([grid], target)]


def _line(row: Row, basis: list[int]) -> tuple[int, dict[int, Typed]] | None:
    """The number of a row, and its coordinates in the rows of the basis."""
    label = row.symbol
    if label is None or len(label.terms) != 1:
        place = row.meaning.index if row.meaning.targets and _is_line(row, basis) else 0
        return (place, dict(zip(basis, row.numbers, strict=True))) if place else None
    name, factor = label.terms[0]
    index = re.fullmatch(r"[^\W\d_]+_?([1-9])", name)
    if index is None:
        return None
    if row.equals:
        terms = [(re.fullmatch(r"[^\W\d_]+_?([1-9])", one), x) for one, x in row.equals[-1].terms]
        if not all(match for match, _ in terms):
            return None
        with localcontext(CONTEXT):
            return int(index[1]), {int(m[1]): divided(x, factor) for m, x in terms if m}  # type: ignore[misc]
    if not _is_line(row, basis) or (row.meaning.targets is not None and row.meaning.index == 0):
        return None
    return int(index[1]), dict(zip(basis, row.numbers, strict=True))


def _is_line(row: Row, basis: list[int]) -> bool:
    return len(row.numbers) == len(basis) and not row.indices and (len(row.entries) == 1 or not row.is_vectors)


def _correlations(rows: Rows, targets: Targets) -> Rows:
    """`column 2 with r = 0.98` as a chosen column and its correlation; `column 1 has r = 0.25` is not a choice."""
    columns, r = place_of("columns", targets), place_of("correlations", targets)
    if columns is None or r is None:
        return rows
    found: Rows = []
    chosen: list[Typed] = []
    for row in rows:
        alone = row.meaning.target == r and row.is_number and not row.meaning.index and not row.starts
        if found and alone and _is_about(found[-1]):
            number = found.pop().numbers[0]
            chosen += [number] if "(" in row.label or _WITH & set(words_of(words(row))) else []
            found.append(row.means(r, int(number.value)))
        else:
            found.append(row)
    explicit = any(row.indices or row.meaning.target == columns for row in found)
    return found if explicit or not chosen else [named(chosen, columns), *found]


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
        every = {(a, b) for a in range(1, shape[0] + 1) for b in range(1, shape[1] + 1)}
        if min(shape) < 2 or not _is_complete(set(own), every, target):
            continue
        own |= {(b, a): row for (a, b), row in own.items() if target.value.is_symmetric() and (b, a) not in own}
        lines = [tuple(own[a, b].numbers[0] if (a, b) in own else _ZERO for b in range(1, shape[1] + 1))
                 for a in range(1, shape[0] + 1)]  # fmt: skip
        found = [named([Grid(tuple(lines))], i), *[row for row in found if row not in own.values()]]
    return found


def _is_complete(places: set[tuple[int, int]], every: set[tuple[int, int]], target: Target) -> bool:
    """Whether all entries are given, or those above the diagonal of a triangular or symmetric matrix."""
    above = {(a, b) for a, b in every if a < b}
    hollow = target.value.is_symmetric() and not any(target.value.diagonal())
    return places in (every, above | {(a, b) for a, b in every if a == b}) or (hollow and places == above)


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
