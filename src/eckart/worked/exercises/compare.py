"""One part of an answer against what it should be.

Exact numbers must be equal, decimals right to the digits given, vectors up to their sign. Where a part is not right,
the most likely slip is named: not normalised, squared, wrong order, one entry, a sign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal, localcontext
from functools import cache
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from eckart.worked.exercises.answers import Target
from eckart.worked.exercises.arithmetic import DIGITS, Entry, Grid, Typed
from eckart.worked.messages import tr, trn

if TYPE_CHECKING:
    from eckart.worked.solution import Value

RIGHT, ALMOST, PARTIAL, WRONG = "right", "almost", "partial", "wrong"
ORDER = (RIGHT, ALMOST, PARTIAL, WRONG)
_COARSE = Decimal("0.01")
"""A decimal must be this near, relatively, however few digits are given."""
_EXACT = Decimal("1e-20")
_FLOAT = Decimal("1e-6")
_SLIPS = ((Decimal(2), "2"), (Decimal(3), "3"), (Decimal(4), "4"), (Decimal(5), "5"), (Decimal(10), "10"),
          (Decimal(100), "100"), (Decimal("0.5"), "1/2"), (Decimal(1) / 3, "1/3"), (Decimal("0.25"), "1/4"),
          (Decimal("0.2"), "1/5"), (Decimal("0.1"), "1/10"), (Decimal("0.01"), "1/100"))  # fmt: skip

Array = np.ndarray[Any, np.dtype[np.float64]]
Match = tuple[tuple[int, ...], tuple[int, ...]]
"""Which true column each given column is, and with which sign; no signs where numbers are compared."""


@dataclass(frozen=True)
class Verdict:
    """What is right and what is not. `status` is "right", "almost", "partial" (right, but not all) or "wrong".

    `matches` holds every order and choice of signs in which the part is right. `misfits` counts the parts that have
    the wrong size: of two ways to read an answer, the one that fits the question is judged.
    """

    status: str
    message: str
    matches: frozenset[Match] = frozenset()
    misfits: int = 0

    def __bool__(self) -> bool:
        return self.status == RIGHT

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Part:
    """Some rows of an answer that belong together."""

    rows: tuple[tuple[Entry, ...], ...]

    @property
    def entries(self) -> list[Entry]:
        return [entry for row in self.rows for entry in row]

    @property
    def flat(self) -> list[Typed]:
        return [x for entry in self.entries for x in (_numbers_of(entry))]

    def vectors(self) -> list[list[Typed]] | None:
        """The vectors, if the part is a list of them."""
        grids = [entry for entry in self.entries if isinstance(entry, Grid) and 1 in entry.shape]
        if len(grids) < 2 or len(grids) != len(self.entries) or len({len(_numbers_of(grid)) for grid in grids}) > 1:
            return None
        return [_numbers_of(grid) for grid in grids]

    def grid(self) -> Grid:
        """The part as one matrix: vectors as rows, numbers in their rows, or in one row."""
        if len(self.entries) == 1 and isinstance(self.entries[0], Grid):
            return self.entries[0]
        if (vectors := self.vectors()) is not None:
            return Grid(tuple(map(tuple, vectors)))
        lines = [tuple(x for entry in row for x in _numbers_of(entry)) for row in self.rows]
        return Grid(tuple(lines)) if len({len(line) for line in lines}) == 1 else Grid((tuple(self.flat),))


def _numbers_of(entry: Entry) -> list[Typed]:
    return [x for row in entry.rows for x in row] if isinstance(entry, Grid) else [entry]


def compare(part: Part, target: Target) -> Verdict:
    """One part against what it should be."""
    with localcontext(Context(prec=DIGITS)):
        first, *others = [_COMPARE[target.form](part, replace(target, value=x)) for x in (target.value, *target.also)]
        return first or next((verdict for verdict in others if verdict), first)


@cache
def _decimal(value: object) -> Decimal:
    return Decimal(str(sp.N(value, DIGITS)))


def close(given: Typed, true: sp.Expr) -> bool:
    """Exactly equal, or a decimal that is rounded or cut off in its last place, and within a per cent.

    What is computed with rounded decimals may be off by their errors.
    """
    true = sp.sympify(true)
    expected = _decimal(true)
    gap, size = abs(given.value - expected), abs(expected)
    if given.error:
        least = Decimal("1e-9") if size else given.error / 2
        cut = given.value * expected >= 0 and abs(given.value) <= size
        unit = given.error if cut or not given.digits else given.error / 2
        return gap <= unit * Decimal("1.0000001") and gap <= max(_COARSE * size, least)
    return gap <= (_FLOAT * max(Decimal(1), size) if true.has(sp.Float) else _EXACT * (1 + size))


def _right(matches: frozenset[Match] = frozenset()) -> Verdict:
    return Verdict(RIGHT, tr("Right."), matches)


def _number(part: Part, target: Target) -> Verdict:
    if len(part.flat) != 1:
        message = tr("One number is asked for here, and the answer has {count}.", count=len(part.flat))
        return Verdict(WRONG, message, misfits=1)
    given = part.flat[0]
    return _right() if close(given, target.value) else Verdict(WRONG, number_slip(given, target.value))


def number_slip(given: Typed, true: sp.Expr) -> str:
    """The likeliest slip behind one wrong number."""
    true = sp.sympify(true)
    if true != 0:
        tests = [
            (tr("The sign is wrong."), -true),
            (tr("This is the square of the right number: take the root."), true**2),
            (tr("This is the square root of the right number."), sp.sqrt(true) if true.is_positive else None),
            (tr("This is the reciprocal of the right number."), 1 / true),
        ]
        for message, value in tests:
            if value is not None and value != true and close(given, value):
                return message
        ratio = given.value / _decimal(true)
        if given.error and abs(ratio - 1) < Decimal("0.03"):
            return tr("Close, but not to the digits given: compute with more digits.")
        for factor, shown in _SLIPS:
            if abs(ratio - factor) < (Decimal("0.01") * factor if given.error else Decimal("1e-9")):
                return tr("The number is off by the factor {factor}.", factor=shown)
    return tr("This is not the right number.")


def _listed(part: Part) -> list[Typed]:
    """The numbers of a part; of a diagonal matrix those on its diagonal."""
    grid = part.grid()
    rows, cols = grid.shape
    crossing = [grid.rows[i][j].value for i in range(rows) for j in range(cols) if i != j]
    if rows == cols > 1 and not any(crossing):
        return [grid.rows[i][i] for i in range(rows)]
    return part.flat


def _in_order(given: Sequence[Value], values: Sequence[Value]) -> bool:
    return all(close(x, value) for x, value in zip(given, values, strict=True))


def _numbers(part: Part, target: Target) -> Verdict:
    """Numbers in any order."""
    left = list(target.value)
    given = _listed(part)
    wrong = []
    for number in given:
        match = next((place for place, value in enumerate(left) if close(number, value)), None)
        if match is None:
            wrong.append(number)
        else:
            del left[match]
    if not wrong and not left:
        orders = permutations(range(len(given)))
        return _right(frozenset((order, ()) for order in orders if _in_order(given, [target.value[j] for j in order])))
    if not wrong:
        return Verdict(PARTIAL, trn("Right so far, but {n} number is missing.",
                                    "Right so far, but {n} numbers are missing.", len(left)))  # fmt: skip
    misfits = int(len(given) > len(target.value))
    if not left:
        return Verdict(WRONG, tr("The answer has numbers that do not belong to it."), misfits=misfits)
    return Verdict(WRONG, _slip_of_many(wrong, left, len(target.value)), misfits=misfits)


def _slip_of_many(wrong: list[Typed], left: list[Value], count: int) -> str:
    slips = {number_slip(given, left[min(i, len(left) - 1)]) for i, given in enumerate(wrong)}
    slips.discard(tr("This is not the right number."))
    if len(left) < count:
        first = tr("{right} of {count} numbers are right.", right=count - len(left), count=count)
        return f"{first} {slips.pop()}" if len(slips) == 1 else first
    return slips.pop() if len(slips) == 1 else tr("None of the numbers is right.")


def _list(part: Part, target: Target) -> Verdict:
    given = _listed(part)
    if len(given) == len(target.value) and all(close(x, y) for x, y in zip(given, target.value, strict=True)):
        return _right()
    verdict = _numbers(part, target)
    if verdict.status == RIGHT:
        return Verdict(ALMOST, tr("The numbers are right, but in another order."))
    return verdict


def _set(part: Part, target: Target) -> Verdict:
    given = [int(x.value) if x.value == x.value.to_integral_value() and not x.error else None for x in part.flat]
    found, true = set(given), {int(x) for x in target.value}
    if found == true and len(given) == len(found):
        return _right()
    if found < true and found:
        return Verdict(PARTIAL, tr("Right so far, but something is missing."))
    return Verdict(WRONG, tr("These are not the right ones."), misfits=int(len(given) > len(true)))


def _matrix(part: Part, target: Target) -> Verdict:
    true, given = target.value, part.grid()
    if given.shape != true.shape:
        if 1 in given.shape and len(part.flat) == len(true):
            given = _shaped(part.flat, true.shape)
        elif given.shape == true.T.shape and _same(given, true.T):
            return Verdict(ALMOST, tr("This is the transpose of the right matrix."))
        else:
            return _shape(given, true)
    if _same(given, true):
        return _right()
    if true.rows == true.cols > 1 and _same(given, true.T):
        return Verdict(ALMOST, tr("This is the transpose of the right matrix."))
    return Verdict(WRONG, _matrix_slip(given, true))


def _shape(given: Grid, true: sp.Matrix) -> Verdict:
    shapes = {"given": "{} x {}".format(*given.shape), "true": f"{true.rows} x {true.cols}"}
    return Verdict(WRONG, tr("The answer is {given}, and a {true} matrix is asked for.", **shapes), misfits=1)


def _same(given: Grid, true: sp.Matrix) -> bool:
    return all(close(given.rows[i][j], true[i, j]) for i in range(true.rows) for j in range(true.cols))


def _matrix_slip(given: Grid, true: sp.Matrix) -> str:
    a, b = _floats(given), np.array(true.evalf().tolist(), dtype=float)
    if np.abs(a).max() > 0 and np.abs(b).max() > 0:
        ratio = float((a * b).sum() / (b * b).sum())
        if ratio and np.allclose(a, ratio * b, rtol=1e-6, atol=1e-9):
            if abs(ratio + 1) < 1e-9:
                return tr("All signs are wrong.")
            return tr("Every entry is off by the factor {factor}.", factor=f"{ratio:.6g}")
    if all(_column_sign(given, j, true[:, j]) for j in range(true.cols)):
        return tr("The columns are right up to their signs, but here the signs are given.")
    wrong = [(i, j) for i in range(true.rows) for j in range(true.cols) if not close(given.rows[i][j], true[i, j])]
    if len(wrong) <= max(1, len(true) // 3):
        indices = ", ".join(f"({i + 1},{j + 1})" for i, j in wrong)
        return trn("One entry is wrong: {places}.", "Some entries are wrong: {places}.", len(wrong), places=indices)
    return tr("This is not the right matrix.")


def _directions(part: Part, target: Target) -> Verdict:
    """Columns up to sign, in any order; unit length is asked for."""
    return _columns(part, target, unit=True)


def _scores(part: Part, target: Target) -> Verdict:
    """Columns up to sign, in order."""
    return _columns(part, target, unit=False)


def _columns(part: Part, target: Target, *, unit: bool) -> Verdict:
    true, given = target.value, _as_columns(part, target.value)
    if true.rows == 1 and given.shape == (true.cols, 1):
        given = _turned(given)  # one row, written with semicolons
    if given.shape != true.shape:
        if given.shape[0] == true.rows and given.shape[1] < true.cols:
            return _some_columns(given, target, unit)
        if given.shape == true.T.shape and _matches(_turned(given), true, unit):
            return _in_rows()
        return _shape(given, true)
    if matches := _matches(given, true, unit or bool(target.pairing)):
        return _right(matches)
    if true.rows == true.cols > 1 and _matches(_turned(given), true, unit):
        return _in_rows()
    return Verdict(*_column_slip(_floats(given), np.array(true.evalf().tolist(), dtype=float), unit))


def _in_rows() -> Verdict:
    return Verdict(ALMOST, tr("The vectors are right, but they stand in rows: write them as columns."))


def _as_columns(part: Part, true: sp.Matrix) -> Grid:
    """Separate vectors are columns; a row may stand for a column."""
    if (vectors := part.vectors()) is not None and len(vectors[0]) == true.rows:
        return _turned(Grid(tuple(map(tuple, vectors))))
    grid = part.grid()
    if 1 in grid.shape and len(part.flat) == true.rows:
        return _shaped(part.flat, (true.rows, 1))
    return grid


def _matches(given: Grid, true: sp.Matrix, reorder: bool) -> frozenset[Match]:
    """Every order of the columns, with signs, in which they are the true ones."""
    signs = [[_column_sign(given, i, true[:, j]) for j in range(true.cols)] for i in range(true.cols)]
    orders = permutations(range(true.cols)) if reorder else [tuple(range(true.cols))]
    return frozenset(
        (tuple(order), tuple(signs[i][j] for i, j in enumerate(order)))
        for order in orders
        if all(signs[i][j] for i, j in enumerate(order))
    )


def _column_sign(given: Grid, place: int, true: sp.Matrix) -> int:
    """1 or -1 if a column is the true one or its opposite, else 0."""
    for sign in (1, -1):
        if all(close(given.rows[i][place], sign * true[i]) for i in range(true.rows)):
            return sign
    return 0


def _some_columns(given: Grid, target: Target, unit: bool) -> Verdict:
    true, count = target.value, given.shape[1]
    for chosen in permutations(range(true.cols), count):
        if _matches(given, true.extract(list(range(true.rows)), list(chosen)), False):
            return Verdict(PARTIAL, trn("Right so far, but {n} vector is missing.",
                                        "Right so far, but {n} vectors are missing.", true.cols - count))  # fmt: skip
    return Verdict(WRONG, tr("The vectors are not right."))


def _column_slip(a: Array, b: Array, unit: bool) -> tuple[str, str]:
    count = b.shape[1]
    for order in permutations(range(count)):
        if all(_parallel(a[:, i], b[:, j]) for i, j in enumerate(order)):
            if unit:
                return ALMOST, tr("The directions are right, but the vectors are not normalised.")
            if list(order) == sorted(order):
                return ALMOST, tr("The directions are right, but the lengths are not.")
            return ALMOST, tr("The vectors are right, but in another order.")
    right = {j for i in range(count) for j in range(count) if _parallel(a[:, i], b[:, j])}
    if right:
        return WRONG, tr("{right} of {count} vectors are right.", right=len(right), count=count)
    if unit and not np.allclose((a * a).sum(axis=0), 1, atol=0.02):
        return WRONG, tr("The vectors are not right, and they are not of unit length.")
    return WRONG, tr("The vectors are not right.")


def _parallel(a: Array, b: Array) -> bool:
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return size > 0 and abs(abs(float(a @ b)) / size - 1) < 2e-5


def _shaped(numbers: Sequence[Typed], shape: tuple[int, int]) -> Grid:
    rows, cols = shape
    return Grid(tuple(tuple(numbers[i * cols : (i + 1) * cols]) for i in range(rows)))


def _turned(grid: Grid) -> Grid:
    return Grid(tuple(zip(*grid.rows, strict=True)))


def _floats(grid: Grid) -> Array:
    return np.array([[float(x.value) for x in row] for row in grid.rows])


_COMPARE: dict[str, Callable[[Part, Target], Verdict]] = {
    "number": _number, "numbers": _numbers, "list": _list, "set": _set, "matrix": _matrix,
    "directions": _directions, "scores": _scores,
}  # fmt: skip


def common(matches: Sequence[tuple[Target, Verdict]]) -> str:
    """What does not belong together in parts that are right one by one: "order", "signs" or ""."""
    orders = [{order for order, _ in verdict.matches} for _, verdict in matches]
    shared = set.intersection(*orders) if orders else set()
    if not shared:
        return "order"
    signed = [verdict.matches for target, verdict in matches if target.signed]
    for order, signs in product(shared, {signs for found in signed for _, signs in found}):
        if all((order, signs) in found for found in signed):
            return ""
    return "signs" if signed else ""
