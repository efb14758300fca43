"""Comparison of one part of an answer with the expected value.

Exact numbers must be equal, decimals correct to the given digits, vectors correct up to sign. If a part is wrong, the
most likely error is named: not normalised, squared, wrong order, one entry, a sign.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from itertools import chain, product
from typing import Any

import numpy as np
import sympy as sp

from eckart.worked.exercises.arithmetic import DIGITS, Entry, Grid, Typed
from eckart.worked.exercises.targets import Target
from eckart.worked.messages import tr, trn
from eckart.worked.numerals import figure

RIGHT, ALMOST, PARTIAL, WRONG = "right", "almost", "partial", "wrong"
ORDER = (RIGHT, ALMOST, PARTIAL, WRONG)
_COARSE = Decimal("0.01")
"""Maximum relative error of a decimal, however few digits are given."""
_LATE = Decimal("1e-4")
"""Relative error of an iterate that counts as its limit: four digits, as many as are computed by hand."""
_EXACT, _SMALL = Decimal("1e-20"), 10
_FLOAT = Decimal("1e-6")
_SLACK = Decimal("1.0000001")
SLIPS = ((Decimal(2), "2"), (Decimal(3), "3"), (Decimal(4), "4"), (Decimal(5), "5"), (Decimal(10), "10"),
          (Decimal(100), "100"), (Decimal("0.5"), "1/2"), (Decimal(1) / 3, "1/3"), (Decimal("0.25"), "1/4"),
          (Decimal("0.2"), "1/5"), (Decimal("0.1"), "1/10"), (Decimal("0.01"), "1/100"))  # fmt: skip

Array = np.ndarray[Any, np.dtype[np.float64]]
Match = tuple[tuple[int, ...], tuple[int, ...]]
"""Which true column each given column is, and with which sign; no signs where numbers are compared."""


@dataclass(frozen=True)
class Verdict:
    """What is right and what is wrong. `status` is "right", "almost", "partial" (right, but incomplete) or "wrong".

    `matches` contains every order and choice of signs in which the part is right. `misfits` is 1 for a part of the
    wrong size, and `hits` counts the right numbers: if an answer can be read in two ways, the better one is judged.
    `cost` is the unexplained part of the whole answer.
    """

    status: str
    message: str
    matches: frozenset[Match] = field(default=frozenset(), repr=False)
    misfits: int = field(default=0, repr=False)
    hits: int = field(default=0, repr=False)
    cost: float = field(default=0.0, repr=False)

    def __bool__(self) -> bool:
        return self.status == RIGHT

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Part:
    """Some rows of an answer that belong together, and their name."""

    rows: tuple[tuple[Entry, ...], ...]
    name: str = ""

    @property
    def is_bare(self) -> bool:
        """Whether it is written without brackets, so that its rows may be vectors or the rows of a matrix."""
        return len(self.rows) > 1 and not any(isinstance(entry, Grid) for entry in self.entries)

    @property
    def may_have_rows(self) -> bool:
        """Whether the vectors may be rows: not in V, a matrix of columns by definition, or where columns are named."""
        return not re.match(r"[A-Z](?![^\W\d_])|.*\(columns\)$", self.name)

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


@cache
def _decimal(value: object) -> Decimal:
    return Decimal(str(sp.N(value, DIGITS)))


@cache
def _is_float(value: object) -> bool:
    """Whether an expected value is itself a decimal."""
    return bool(sp.sympify(value).has(sp.Float))


def close(given: Typed, true: sp.Expr, scale: Decimal = Decimal(0)) -> bool:
    """Whether a number is exactly equal, or a decimal rounded or truncated in its last place and within one percent.

    The percent is relative to `scale` for rounded numbers, if that is larger: 0.06 is right for 0.063 next to 0.71.
    Results computed from rounded decimals may be off by their errors.
    """
    expected = _decimal(true)
    gap, size = abs(given.value - expected), abs(expected)
    if given.percent and size > 1:
        return False  # 1200 % is not 12
    if given.error:
        return _is_rounded(given, expected, scale) or _is_cut(given, expected)
    return gap <= (_FLOAT * max(Decimal(1), size) if _is_float(true) else _EXACT * (1 + size))


def _least(given: Typed, expected: Decimal) -> Decimal:
    """An error that is always allowed."""
    return Decimal("1e-9") if expected else given.error / 2


def _is_rounded(given: Typed, expected: Decimal, scale: Decimal) -> bool:
    """Whether a decimal is rounded in its last place."""
    gap, size = abs(given.value - expected), abs(expected)
    rounded = given.error / 2 if given.digits else given.error
    return gap <= rounded * _SLACK and gap <= max(_COARSE * max(size, scale), _least(given, expected))


def _is_cut(given: Typed, expected: Decimal) -> bool:
    """Whether a decimal is truncated in its last place."""
    gap, size = abs(given.value - expected), abs(expected)
    shorter = given.value * expected >= 0 and abs(given.value) <= size
    return shorter and gap * _SLACK < given.error and gap <= max(_COARSE * size, _least(given, expected))


def scale_of(target: Target) -> Decimal:
    """The size against which the decimals of a target are rounded: that of its largest value."""
    if target.scale or not isinstance(target.value, list | sp.MatrixBase):
        return Decimal(target.scale)
    return max((abs(_decimal(sp.sympify(value))) for value in target.value), default=Decimal(0))


def right(matches: frozenset[Match] = frozenset()) -> Verdict:
    return Verdict(RIGHT, tr("Right."), matches)


def number(part: Part, target: Target) -> Verdict:
    if len(part.flat) != 1:
        return _one_number(part)
    given = part.flat[0]
    if given.percent and abs(_decimal(target.value)) > 1:
        return _no_share()
    fits = close(given, target.value, Decimal(target.scale)) or (target.iterated and _is_late(given, target.value))
    return right() if fits else Verdict(WRONG, number_slip(given, target.value))


def _is_late(given: Typed, true: sp.Expr) -> bool:
    """Whether a decimal is an iterate that has nearly reached its limit."""
    return bool(given.error) and abs(given.value / _decimal(true) - 1) < _LATE


def count(part: Part, target: Target) -> Verdict:
    """How many there are; a wrong factor or root would explain nothing."""
    if len(part.flat) != 1:
        return _one_number(part)
    if part.flat[0].percent:
        return _no_share()
    fits = close(part.flat[0], target.value)
    return right() if fits else Verdict(WRONG, tr("This is not the right number."))


def _no_share() -> Verdict:
    return Verdict(WRONG, tr("This is a percentage, but the question does not ask for a share."))


def _one_number(part: Part) -> Verdict:
    message = tr("The question asks for one number, but the answer has {count}.", count=len(part.flat))
    return Verdict(WRONG, message, misfits=1)


def number_slip(given: Typed, true: sp.Expr) -> str:
    """The most likely error behind one wrong number."""
    true = sp.sympify(true)
    if true == 0:
        return tr("This is not the right number.")
    tests = [
        (tr("The sign is wrong."), -true),
        (tr("This is the square of the right number: take the root."), true**2),
        (tr("This is the square root of the right number."), sp.sqrt(true) if true.is_positive else true),
        (tr("This is the reciprocal of the right number."), 1 / true),
    ]
    for message, value in tests:
        if value != true and close(given, value):
            return message
    if _is_nearly(given, true):
        return tr("Close, but not all digits are right: compute with more digits.")
    if shown := _factor(given, true):
        return tr("The number is off by the factor {factor}.", factor=shown)
    return tr("This is not the right number.")


def _is_nearly(given: Typed, true: sp.Expr) -> bool:
    """Whether a rounded number is off by less than 3 %."""
    cut = not true.is_Integer and given.value == given.value.to_integral_value()
    return bool(given.error or cut) and abs(given.value / _decimal(true) - 1) < Decimal("0.03")


def _factor(given: Typed, true: sp.Expr) -> str:
    """The simple factor by which a number is off, or ""."""
    expected = _decimal(sp.sympify(true))
    small = abs(expected) < _SMALL and all(x == x.to_integral_value() for x in (expected, given.value))
    if not expected or small:
        return ""  # a small whole number is a multiple of another by chance
    ratio = given.value / expected
    slack = 2 * given.error / abs(expected)  # a larger tolerance finds a factor in any number
    near = [shown for factor, shown in SLIPS
            if abs(ratio - factor) <= (slack if given.error else Decimal("1e-9"))]  # fmt: skip
    return near[0] if near else ""


def matrix(part: Part, target: Target) -> Verdict:
    true, given, scale = target.value, part.grid(), scale_of(target)
    if given.shape != true.shape and 1 in given.shape and len(part.flat) == len(true):
        given = shaped(part.flat, true.shape)
    if _same(given, true, scale):
        return right()
    if max(true.shape) > 1 and _same(given, true.T, scale):
        return Verdict(ALMOST, tr("This is the transpose of the right matrix."))
    if given.shape != true.shape:
        return wrong_shape(given, true)
    wrong = [(i, j) for i, j in product(*map(range, true.shape)) if not close(given.rows[i][j], true[i, j], scale)]
    return Verdict(WRONG, _matrix_slip(given, true, wrong), hits=len(true) - len(wrong))


def fewer(missing: int, hits: int = 0) -> Verdict:
    """The verdict on numbers that are right, but not all."""
    message = trn("Right so far, but {n} number is missing.", "Right so far, but {n} numbers are missing.", missing)
    return Verdict(PARTIAL, message, hits=hits)


def wrong_shape(given: Grid, true: Any) -> Verdict:
    shapes = {"given": "{} x {}".format(*given.shape), "true": f"{true.rows} x {true.cols}"}
    return Verdict(WRONG, tr("The answer is {given}, but the question asks for a {true} matrix.", **shapes), misfits=1)


def _same(given: Grid, true: sp.Matrix, scale: Decimal) -> bool:
    if given.shape != true.shape:
        return False
    return all(close(given.rows[i][j], true[i, j], scale) for i in range(true.rows) for j in range(true.cols))


def _common_factor(a: Array, b: Array) -> float:
    """The factor between two matrices that differ in nothing else; 0 if there is none."""
    if not a.any() or not b.any():
        return 0.0
    ratio = float((a * b).sum() / (b * b).sum())
    return ratio if np.allclose(a, ratio * b, rtol=1e-6, atol=1e-9) else 0.0


def _matrix_slip(given: Grid, true: sp.Matrix, wrong: list[tuple[int, int]]) -> str:
    a, b = floats(given), np.array(true.evalf().tolist(), dtype=float)
    if ratio := _common_factor(a, b):
        return _factor_slip(ratio)
    if len(wrong) > 1 and min(true.shape) > 1 and all(column_sign(given, j, true[:, j]) for j in range(true.cols)):
        return tr("The columns are right except for their signs, which the question determines.")
    if _is_inaccurate(given, a, b):
        return tr("Close, but not all digits are right: compute with more digits.")
    indices = ", ".join(f"({i + 1},{j + 1})" for i, j in wrong)
    if same_numbers(list(chain.from_iterable(given.rows)), list(true)):
        return tr("The numbers are right, but some are in the wrong places: {places}.", places=indices)
    if len(wrong) <= max(1, len(true) // 3):
        return trn("One entry is wrong: {places}.", "Some entries are wrong: {places}.", len(wrong), places=indices)
    return tr("This is not the right matrix.")


def _factor_slip(ratio: float) -> str:
    if abs(ratio + 1) < 1e-9:
        return tr("All signs are wrong.")
    return tr("Every entry is off by the factor {factor}.", factor=figure(ratio))


def same_numbers(given: Sequence[Typed], true: Sequence[Any]) -> bool:
    """Whether numbers are the true ones in any order; strict, so that rounding does not look like an exchange."""
    left = list(true)
    for x in given:
        match = next((place for place, value in enumerate(left) if close(x, value)), None)
        if match is None:
            return False
        del left[match]
    return not left


def _is_inaccurate(given: Grid, a: Array, b: Array) -> bool:
    """Whether decimals are close to the true matrix in every entry."""
    inexact = [bool(x.error) for row in given.rows for x in row if x.value != x.value.to_integral_value()]
    near = np.abs(a - b) <= 0.03 * np.abs(b) + 0.003 * np.abs(b).max()
    return bool(inexact) and all(inexact) and bool(near.all())


def shaped(numbers: Sequence[Typed], shape: tuple[int, int]) -> Grid:
    rows, cols = shape
    return Grid(tuple(tuple(numbers[i * cols : (i + 1) * cols]) for i in range(rows)))


def transposed(grid: Grid) -> Grid:
    return Grid(tuple(zip(*grid.rows, strict=True)))


def floats(grid: Grid) -> Array:
    return np.array([[float(x.value) for x in row] for row in grid.rows])


def column_sign(given: Grid, place: int, true: Any) -> int:
    """1 or -1 if a column is the true one or its opposite, else 0."""
    scale = max(abs(_decimal(entry)) for entry in true)
    for sign in (1, -1):
        if all(close(given.rows[i][place], sign * true[i], scale) for i in range(true.rows)):
            return sign
    return 0
