"""Numbers and brackets parsed by a small grammar; nothing is ever evaluated as code.

row     = entry (("," | space) entry)*
entry   = term (("+" | "-") term)*
term    = power (("*" | "/" | nothing) power)*
power   = sign atom "'"? ("^" power)?
atom    = number "%"? | ("sqrt" | "cbrt") atom | "(" rows ")" | "[" rows "]" | "{" rows "}"

Numbers are decimals of 40 digits, so huge powers and deep roots are cheap, and refused if they overflow.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow, Underflow, localcontext
from itertools import chain

from eckart.errors import InputError
from eckart.worked.messages import tr

DIGITS = 40
_CONTEXT = Context(prec=DIGITS, Emax=60, Emin=-60, traps=[DivisionByZero, InvalidOperation, Overflow, Underflow])
_TOKEN = re.compile(
    r"([^\S\n]*)(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|sqrt|cbrt|[-+*/^()\[\]{},;\n%'])", re.ASCII
)
DEEPEST = 12
_CLOSING = {"(": ")", "[": "]", "{": "}"}
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


@dataclass
class Reader:
    """One row of an answer, read from left to right.

    With `product`, a space before a root or a bracket multiplies, as in `1/2 sqrt(2)`. Without it, the space separates
    entries, except for a number before a vector, as in `1/√2 (1, 1)`. With `apart` it separates these too: `3 (1, 1)`
    is a pair.
    """

    text: str
    product: bool = False
    apart: bool = False
    place: int = 0
    depth: int = 0
    tokens: list[tuple[str, bool]] = field(default_factory=list)

    def row(self) -> list[Entry]:
        """All entries."""
        position = 0
        while position < len(self.text.rstrip()):
            match = _TOKEN.match(self.text, position)
            if match is None:
                seen = re.match(r"[^\W\d_]+|.", self.text[position:].strip())
                raise InputError(tr("{sign} was not expected.", sign=repr(seen[0] if seen else "")))
            self.tokens.append((match[2], bool(match[1])))
            position = match.end()
        with localcontext(_CONTEXT):
            try:
                entries = self.entries()
            except (Overflow, Underflow):
                raise InputError(tr("A number is too large or too small to be read.")) from None
            except DivisionByZero:
                raise InputError(tr("A number is divided by zero.")) from None
            except InvalidOperation:
                raise InputError(tr("A root or power of a negative number, or 0/0, is not a real number.")) from None
        if self.place < len(self.tokens):
            raise self.unexpected()
        return entries

    def unexpected(self) -> InputError:
        sign = self.token()
        return InputError(tr("{sign} was not expected.", sign=repr(sign)) if sign else
                          tr("Something is missing at the end."))  # fmt: skip

    def token(self, ahead: int = 0) -> str:
        place = self.place + ahead
        return self.tokens[place][0] if place < len(self.tokens) else ""

    def spaced(self, ahead: int = 0) -> bool:
        """Whether there is a space before the token."""
        place = self.place + ahead
        return place < len(self.tokens) and self.tokens[place][1]

    def entries(self) -> list[Entry]:
        found = []
        while self.token() and self.token() not in ")]};\n":
            if self.token() == ",":
                # A comma at the end of a line continues the row on the next.
                self.place += 2 if self.token(1) == "\n" else 1
                continue
            found.append(self.entry())
        return found

    def entry(self) -> Entry:
        value = self.term()
        while self.token() in {"+", "-"} and not self.starts_entry():
            sign = self.token()
            self.place += 1
            value = _sum(value, self.term(), -1 if sign == "-" else 1)
        return value

    def starts_entry(self) -> bool:
        """In `[1 -2]`, with a space before the sign and none after it, the sign belongs to the next entry."""
        return not self.product and self.spaced() and not self.spaced(1)

    def term(self) -> Entry:
        value = self.power()
        while True:
            token = self.token()
            if token in {"*", "/"}:
                self.place += 1
                value = _product(value, self.power()) if token == "*" else _quotient(value, self.divisor())
            elif self.multiplies(value):
                value = _product(value, self.power())
            else:
                return value

    def divisor(self) -> Entry:
        """One number, so that a space inside its bracket multiplies: `1/(3 sqrt(2))`."""
        outer, self.product = self.product, True
        value = self.power()
        self.product = outer
        return value

    def multiplies(self, left: Entry) -> bool:
        """Whether the next token is a factor without an operator, as in `2 sqrt(3)` and `1/√2 (1, 1)`."""
        token = self.token()
        bracket, number = token in {"(", "[", "{"}, bool(token) and (token[0].isdigit() or token[0] == ".")
        if not (bracket or number or token in {"sqrt", "cbrt"}):
            return False
        if number and not self.spaced() and self.token(-1)[-1].isdigit():
            raise self.unexpected()  # 4.3.2
        if isinstance(left, Grid) and token in {"sqrt", "cbrt"}:
            return not self.apart or not self.spaced()  # [1 2; 3 4] sqrt(5)
        if not self.spaced() or (self.product and not number):
            return not (bracket and isinstance(left, Grid))
        return not self.apart and isinstance(left, Typed) and bracket and self.is_list()

    def is_list(self) -> bool:
        """Whether the bracket that opens here has more than one entry."""
        depth = 0
        for place in range(self.place, len(self.tokens)):
            token, spaced = self.tokens[place]
            depth += (token in "([{") - (token in ")]}")
            if depth == 0:
                return False
            if depth != 1 or place == self.place:
                continue
            if token in ",;\n":
                return True
            if spaced and self.tokens[place - 1][0] not in "([{+-*/^" and token not in "+-*/^)]}":
                return True
        return False

    def power(self) -> Entry:
        sign = 1
        while self.token() in {"-", "+"}:
            sign = -sign if self.token() == "-" else sign
            self.place += 1
        value = self.atom()
        while self.token() == "'":
            self.place += 1
            value = Grid(tuple(zip(*value.rows, strict=True))) if isinstance(value, Grid) else value
        if self.token() == "^":
            self.place += 1
            self.deepen()
            value = _power(value, self.power())
            self.depth -= 1
        return _scaled(value, sign)

    def deepen(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise InputError(tr("Brackets are nested more than {most} levels deep.", most=DEEPEST))

    def atom(self) -> Entry:
        token = self.token()
        if token in _CLOSING:
            return self.bracket()
        if token in {"sqrt", "cbrt"}:
            self.place += 1
            self.deepen()
            value = _function(square_root if token == "sqrt" else _cube_root, self.atom())
            self.depth -= 1
            return value
        if not token or not (token[0].isdigit() or token[0] == "."):
            raise self.unexpected()
        self.place += 1
        value = _literal(token)
        while self.token() == "%":
            self.place += 1
            value = Typed(value.value / 100, value.error / 100, value.digits, percent=True)
        return value

    def bracket(self) -> Entry:
        closing = _CLOSING[self.token()]
        self.place += 1
        self.deepen()
        rows: list[list[Entry]] = []
        separators: set[str] = set()
        while True:
            if entries := self.entries():
                rows.append(entries)
            if self.token() not in {";", "\n"}:
                break
            separators.add(self.token())
            self.place += 1
        if self.token() != closing:
            raise InputError(tr("A bracket is not closed."))
        self.place += 1
        self.depth -= 1
        return _gathered(_unbroken(rows) if separators == {"\n"} else rows)


def _unbroken(rows: list[list[Entry]]) -> list[list[Entry]]:
    """One row for a long vector that NumPy broke into lines: all of the same length, except a shorter last one."""
    *full, last = map(len, rows)
    return [list(chain.from_iterable(rows))] if len(set(full)) == 1 and last < full[0] else rows


def _gathered(rows: list[list[Entry]]) -> Entry:
    """The content of a bracket: a single number or bracket unchanged, vectors as rows, or the numbers in rows."""
    if not rows:
        raise InputError(tr("A bracket is empty."))
    entries = list(chain.from_iterable(rows))
    if len(rows) == len(entries) == 1:
        return entries[0]
    vectors = [entry.rows for entry in entries if isinstance(entry, Grid) and 1 in entry.shape]
    if len(vectors) == len(entries):
        return _grid([tuple(chain(*vector)) for vector in vectors])
    numbers = [tuple(entry for entry in row if isinstance(entry, Typed)) for row in rows]
    if sum(map(len, numbers)) < len(entries):
        raise InputError(tr("A bracket has numbers and brackets side by side."))
    return _grid(numbers)


def _grid(rows: list[tuple[Typed, ...]]) -> Grid:
    if len({len(row) for row in rows}) != 1:
        raise InputError(tr("The rows of a matrix are not equally long."))
    return Grid(tuple(rows))


def _literal(token: str) -> Typed:
    digits, _, exponent = token.lower().partition("e")
    _, _, fraction = digits.partition(".")
    shift = int(exponent or 0)
    if abs(shift) > DIGITS:
        raise InputError(tr("A number is too large or too small to be read."))
    value = _CONTEXT.create_decimal(token)
    if not fraction and shift >= 0:
        return Typed(value)
    unit = Decimal(1).scaleb(shift - len(fraction))
    error = max(unit, _FLOATING * max(Decimal(1), abs(value)))
    return Typed(value, error, max(1, len(digits.replace(".", "").lstrip("0"))))


def _function(apply: Callable[[Typed], Typed], value: Entry) -> Entry:
    if isinstance(value, Grid):
        raise InputError(tr("A root needs one number."))
    return apply(value)


def square_root(x: Typed) -> Typed:
    """The square root of a typed number, with its rounding error."""
    root = x.value.sqrt()
    return Typed(root, x.inexactness / (2 * root) if root else x.inexactness)


def _cube_root(x: Typed) -> Typed:
    root = abs(x.value) ** (Decimal(1) / 3) if x.value else Decimal(0)
    return Typed(root.copy_sign(x.value), x.inexactness / (3 * root * root) if root else x.inexactness)


def _sum(a: Entry, b: Entry, sign: int) -> Entry:
    if isinstance(a, Grid) or isinstance(b, Grid):
        raise InputError(tr("Brackets with several numbers cannot be added here: write the result."))
    return Typed(a.value + sign * b.value, a.inexactness + b.inexactness)


def _product(a: Entry, b: Entry) -> Entry:
    if isinstance(a, Grid):
        if isinstance(b, Grid):
            raise InputError(tr("Brackets with several numbers cannot be multiplied here: write the result."))
        a, b = b, a
    if isinstance(b, Grid):
        return Grid(tuple(tuple(_times(a, x) for x in row) for row in b.rows))
    return _times(a, b)


def _times(a: Typed, b: Typed) -> Typed:
    error = abs(a.value) * b.inexactness + abs(b.value) * a.inexactness
    return Typed(a.value * b.value, error)


def _quotient(a: Entry, b: Entry) -> Entry:
    if isinstance(b, Grid):
        raise InputError(tr("A bracket with several numbers cannot divide: write the result."))
    return _product(a, Typed(1 / b.value, b.inexactness / (b.value * b.value)))


def _scaled(value: Entry, sign: int) -> Entry:
    if isinstance(value, Grid):
        return Grid(tuple(tuple(replace(x, value=sign * x.value) for x in row) for row in value.rows))
    return replace(value, value=sign * value.value)


def _power(base: Entry, exponent: Entry) -> Entry:
    if isinstance(base, Grid) or isinstance(exponent, Grid):
        raise InputError(tr("A power needs two numbers."))
    value = base.value**exponent.value
    relative = abs(exponent.value) * base.inexactness / abs(base.value) if base.value else Decimal(0)
    return Typed(value, abs(value) * relative)
