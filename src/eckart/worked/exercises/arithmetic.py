"""Values of answers: numbers with their rounding errors, grids of them, and combinations of symbols.

Numbers are decimals of 40 digits, so huge powers and deep roots are cheap, and refused if they overflow.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow, Underflow
from itertools import chain

from eckart.errors import InputError
from eckart.worked.messages import tr

DIGITS = 40
CONTEXT = Context(prec=DIGITS, Emax=60, Emin=-60, traps=[DivisionByZero, InvalidOperation, Overflow, Underflow])
DEEPEST = 12
_FEW = 3
"""A decimal with fewer significant digits, such as 0.5, counts as exact inside an expression."""
_FLOATING = Decimal("1e-10")
"""Digits below this, relative to max(1, |x|), are rounding errors of double precision: 0.7071067811865476, 5.6e-17."""


@dataclass(frozen=True)
class Typed:
    """A number as typed: its value, and how far off it may be because it was rounded (0 if it is exact)."""

    value: Decimal
    error: Decimal = Decimal(0)
    digits: int = 0
    percent: bool = False

    def __str__(self) -> str:
        return str(self.value)

    @property
    def inexactness(self) -> Decimal:
        """The rounding error that enters a computation with this number."""
        return Decimal(0) if 0 < self.digits < _FEW else self.error


@dataclass(frozen=True)
class Grid:
    """The numbers of a bracket, in rows of equal length."""

    rows: tuple[tuple[Typed, ...], ...]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.rows[0])


Entry = Typed | Grid


@dataclass(frozen=True)
class Linear:
    """A combination of symbols, `2 r1 - r2` or `A v`: a number for each symbol or product of symbols."""

    terms: tuple[tuple[str, Typed], ...]

    @property
    def name(self) -> str:
        """The text of a single symbol or product, with its factor unless that is 1; "" for a sum."""
        shown = [
            name if x.value == 1 else f"-{name}" if x.value == -1 else f"{x.value:f} {name}" for name, x in self.terms
        ]
        return re.sub(r"\^\(([-+]?\w+)\)", r"^\1", " + ".join(shown).replace("+ -", "- "))

    @property
    def symbol(self) -> str:
        """The symbol or product without a factor; "" if there is more to it."""
        return self.terms[0][0] if len(self.terms) == 1 and self.terms[0][1].value == 1 else ""

    @property
    def index(self) -> int:
        """The index of a single symbol, 3 for r_3; 0 if there is none."""
        found = re.fullmatch(r"[^\W\d_]+_?([1-9]\d?)", self.symbol)
        return int(found[1]) if found else 0


Value = Typed | Grid | Linear


def literal(token: str) -> Typed:
    """A number as it was typed."""
    digits, _, exponent = token.lower().partition("e")
    _, _, fraction = digits.partition(".")
    shift = int(exponent or 0)
    if abs(shift) > DIGITS:
        raise InputError(tr("A number is too large or too small to be read."))
    value = CONTEXT.create_decimal(token)
    if not fraction and shift >= 0:
        return Typed(value)
    unit = Decimal(1).scaleb(shift - len(fraction))
    error = max(unit, _FLOATING * max(Decimal(1), abs(value)))
    return Typed(value, error, max(1, len(digits.replace(".", "").lstrip("0"))))


def applied(apply: Callable[[Typed], Typed], value: Value) -> Value:
    """A root of a number, or of every entry of a vector, as in `np.sqrt([9, 4])`."""
    if isinstance(value, Grid) and 1 in value.shape:
        return Grid(tuple(tuple(map(apply, row)) for row in value.rows))
    if not isinstance(value, Typed):
        raise InputError(tr("A root needs one number."))
    return apply(value)


def square_root(x: Typed) -> Typed:
    """The square root of a typed number, with its rounding error."""
    root = x.value.sqrt()
    return Typed(root, x.inexactness / (2 * root) if root else x.inexactness)


def cube_root(x: Typed) -> Typed:
    """The cube root of a typed number, with its rounding error."""
    root = abs(x.value) ** (Decimal(1) / 3) if x.value else Decimal(0)
    return Typed(root.copy_sign(x.value), x.inexactness / (3 * root * root) if root else x.inexactness)


def added(a: Value, b: Value, sign: int) -> Value:
    """The sum or difference of two numbers or combinations."""
    if isinstance(a, Grid) or isinstance(b, Grid):
        return _grid_sum(a, b, sign)
    if isinstance(a, Linear) and isinstance(b, Linear):
        terms = dict(a.terms)
        for name, x in b.terms:
            old = terms.get(name, Typed(Decimal(0)))
            terms[name] = Typed(old.value + sign * x.value, old.inexactness + x.inexactness)
        return Linear(tuple(terms.items()))
    if isinstance(a, Linear) or isinstance(b, Linear):
        return added(_constant(a), _constant(b), sign)
    return _plus(a, b, sign)


def _grid_sum(a: Value, b: Value, sign: int) -> Grid:
    """The sum of two matrices of the same size."""
    if not isinstance(a, Grid) or not isinstance(b, Grid) or a.shape != b.shape:
        raise InputError(tr("Brackets with several numbers cannot be added in an answer: write the result."))
    pairs = (zip(x, y, strict=True) for x, y in zip(a.rows, b.rows, strict=True))
    return Grid(tuple(tuple(_plus(x, y, sign) for x, y in row) for row in pairs))


def _plus(a: Typed, b: Typed, sign: int = 1) -> Typed:
    return Typed(a.value + sign * b.value, a.inexactness + b.inexactness)


def _grid_product(a: Grid, b: Grid) -> Grid:
    """The product of two matrices; two vectors give the matrix of all products."""
    if a.shape[1] != b.shape[0] and 1 in a.shape and 1 in b.shape:
        a, b = Grid(tuple((x,) for x in chain(*a.rows))), Grid((tuple(chain(*b.rows)),))
    if a.shape[1] != b.shape[0]:
        raise InputError(tr("Brackets with several numbers cannot be multiplied in an answer: write the result."))
    columns = tuple(zip(*b.rows, strict=True))
    return Grid(tuple(tuple(_dot(row, column) for column in columns) for row in a.rows))


def _dot(a: tuple[Typed, ...], b: tuple[Typed, ...]) -> Typed:
    total = Typed(Decimal(0))
    for x, y in zip(a, b, strict=True):
        total = _plus(total, _times(x, y))
    return total


def _constant(x: Value) -> Value:
    """A number as a combination, so that it can be added to symbols: λ^2 - 9."""
    return Linear((("", x),)) if isinstance(x, Typed) else x


def multiplied(a: Value, b: Value) -> Value:
    """The product of two values."""
    if isinstance(a, Linear) and isinstance(b, Linear):
        return Linear(tuple((f"{m} {n}", _times(x, y)) for m, x in a.terms for n, y in b.terms))
    if isinstance(a, Grid) and isinstance(b, Grid):
        return _grid_product(a, b)
    if isinstance(b, Typed):
        return _scaled(a, b)
    if isinstance(a, Typed):
        return _scaled(b, a)
    raise InputError(tr("Brackets with several numbers cannot be multiplied in an answer: write the result."))


def _scaled(value: Value, factor: Typed) -> Value:
    """A value times a number."""
    if isinstance(value, Linear):
        return Linear(tuple((name, _times(x, factor)) for name, x in value.terms))
    if isinstance(value, Grid):
        return Grid(tuple(tuple(_times(factor, x) for x in row) for row in value.rows))
    return _times(value, factor)


def _times(a: Typed, b: Typed) -> Typed:
    error = abs(a.value) * b.inexactness + abs(b.value) * a.inexactness
    return Typed(a.value * b.value, error)


def divided(a: Value, b: Value) -> Value:
    """The quotient of a value and a number."""
    if not isinstance(b, Typed):
        raise InputError(tr("Division by a bracket with several numbers is not possible: write the result."))
    return multiplied(a, Typed(1 / b.value, b.inexactness / (b.value * b.value)))


def signed(value: Value, sign: int) -> Value:
    """A value, or its opposite, as exact as before."""
    if isinstance(value, Grid):
        return Grid(tuple(tuple(replace(x, value=sign * x.value) for x in row) for row in value.rows))
    if isinstance(value, Linear):
        return Linear(tuple((name, replace(x, value=sign * x.value)) for name, x in value.terms))
    return replace(value, value=sign * value.value)


def raised(base: Value, exponent: Value) -> Value:
    """A power of two numbers."""
    if isinstance(base, Linear) and isinstance(exponent, Typed):
        return Linear(((f"({base.name})^{exponent.value:f}", Typed(Decimal(1))),))
    if not isinstance(base, Typed) or not isinstance(exponent, Typed):
        raise InputError(tr("A power needs two numbers."))
    value = base.value**exponent.value
    relative = abs(exponent.value) * base.inexactness / abs(base.value) if base.value else Decimal(0)
    return Typed(value, abs(value) * relative)
