"""Expressions parsed by a small grammar; nothing is ever evaluated as code.

entry   = term (("+" | "-" | "±") term)*
term    = power (("*" | "/" | nothing) power)*
power   = sign atom "'"? ("^" power)?
atom    = number "%"? | ("sqrt" | "cbrt") atom | symbol | "(" rows ")" | "[" rows "]" | "{" rows "}"
rows    = entry (("," | space | ";" | line break) entry)*

An entry is a number, a grid of numbers, or a combination of symbols.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal, DivisionByZero, InvalidOperation, Overflow, Underflow, localcontext
from itertools import chain

from eckart.errors import InputError
from eckart.worked.exercises.arithmetic import (
    CONTEXT,
    DEEPEST,
    Grid,
    Linear,
    Typed,
    Value,
    added,
    applied,
    cube_root,
    divided,
    literal,
    multiplied,
    raised,
    signed,
    square_root,
)
from eckart.worked.exercises.tokens import Token, Tokens
from eckart.worked.messages import tr

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_END = Token("end", "")
Values = list[Value]


@contextmanager
def arithmetic() -> Iterator[None]:
    """Decimal arithmetic whose exceptions say what is wrong."""
    with localcontext(CONTEXT):
        try:
            yield
        except (Overflow, Underflow):
            raise InputError(tr("A number is too large or too small to be read.")) from None
        except DivisionByZero:
            raise InputError(tr("A number is divided by zero.")) from None
        except InvalidOperation:
            raise InputError(tr("A root or power of a negative number, or 0/0, is not a real number.")) from None


@dataclass
class Reader:
    """Entries, read from left to right.

    With `product`, a space before a root or a bracket multiplies, as in `1/2 sqrt(2)`: outside of brackets (1), or
    everywhere (2). Without it, the space separates entries, except for a number before a vector, as in
    `1/√2 (1, 1)`. With `apart` it separates these too: `3 (1, 1)` is a pair. After a relation or a value (`named`), a
    symbol before a relation is a name: `k = 1 r = 2`.
    """

    tokens: Tokens
    product: int = 0
    apart: bool = False
    place: int = 0
    named: bool = False
    depth: int = 0

    def read(self, place: int, named: bool) -> tuple[Values, int]:
        """The values of the entry at a place (two for `2 ± √3`, some for a tuple), and where it ends."""
        self.place, self.named, self.depth = place, named, 0
        with arithmetic():
            return self.entry(), self.place

    def token(self, ahead: int = 0) -> Token:
        place = self.place + ahead
        return self.tokens[place] if 0 <= place < len(self.tokens) else _END

    @property
    def joins(self) -> bool:
        """Whether a space multiplies here."""
        return self.product > 1 or (self.product == 1 and not self.depth)

    def unexpected(self) -> InputError:
        sign = self.token().text
        return InputError(tr("{sign} was not expected.", sign=repr(sign)) if sign.strip() else
                          tr("Something is missing at the end."))  # fmt: skip

    def entry(self) -> Values:
        values = self.term()
        while self.token().text in {"+", "-", "±"} and not self.starts_entry():
            sign = self.token().text
            self.place += 1
            others = self.term()
            signs = {"+": (1,), "-": (-1,), "±": (1, -1)}[sign]
            if len(values) > 1 or len(others) > 1:
                raise InputError(tr("A sum may contain only one ± sign."))
            values = [added(values[0], others[0], one) for one in signs]
        return values

    def starts_entry(self) -> bool:
        """In `[1 -2]`, with a space before the sign and none after it, the sign belongs to the next entry."""
        return not self.joins and self.token().spaced and not self.token(1).spaced and not self.combines()

    def combines(self) -> bool:
        """Whether a symbol follows the sign, `2 r1 -r2`, in a combination."""
        ahead = 2 if self.token(1).kind == "number" else 1
        return self.token(-1).kind == "symbol" and self.token(ahead).kind == "symbol"

    def term(self) -> Values:
        values = self.power()
        while True:
            text = self.token().text
            if text in {"*", "/"}:
                self.place += 1
                factors = self.power() if text == "*" else self.divisor()
                combine = multiplied if text == "*" else divided
            elif self.multiplies(values[0]):
                factors, combine = self.power(), multiplied
            else:
                return values
            values = [combine(value, factor) for value in values for factor in factors]

    def divisor(self) -> Values:
        """One number, so that a space inside its bracket multiplies: `1/(3 sqrt(2))`."""
        outer, self.product = self.product, 2
        values = self.power()
        self.product = outer
        return values

    def multiplies(self, left: Value) -> bool:
        """Whether the next token is a factor without an operator, as in `2 sqrt(3)`, `1/√2 (1, 1)` and `2 r1`."""
        token = self.token()
        if token.kind == "symbol":
            return self.multiplies_symbol(left)
        if not token.is_operand or isinstance(left, Linear):
            return False
        if isinstance(left, Grid):
            return self.multiplies_grid()
        if token.kind == "open" and (self.token(2).text == "%" or not self.is_numeric(self.place)):
            return False  # k = 1 (97.8 %)
        if not token.spaced:
            return self.is_adjacent()
        joined = self.joins and token.kind != "number"
        return joined or (not self.apart and token.kind == "open" and self.is_list())

    def is_adjacent(self) -> bool:
        """Whether a factor may follow without a space: not in 4.3.2."""
        if self.token().kind == self.token(-1).kind == "number":
            raise self.unexpected()
        return True

    def multiplies_grid(self) -> bool:
        """Whether the next token multiplies a grid: `[1 2; 3 4] sqrt(5)`, `(1, 2)^T(3, 4)`."""
        token = self.token()
        if token.kind == "open":
            return not token.spaced and self.token(-1).text == "'"
        return token.kind == "function" and not (self.apart and token.spaced)

    def multiplies_symbol(self, left: Value) -> bool:
        """Whether the next symbol is a factor, not the name of the next value."""
        if isinstance(left, Grid):
            return False
        if isinstance(left, Linear):
            return len(left.terms) == 1 and not left.terms[0][0].startswith(("row_", "column_", "point_"))
        stop = self.place
        while stop < len(self.tokens) and self.tokens[stop].kind == "symbol":
            stop += 1
        after = self.tokens[stop] if stop < len(self.tokens) else _END
        return not (
            self.named
            and after.kind == "relation"
            and stop == self.place + 1
            and re.fullmatch(r"(?:lambda|sigma|mu|rho|phi|[A-Za-z])[^A-Za-z]*", self.token().text.split("^")[0])
        )

    def is_numeric(self, start: int) -> bool:
        """Whether the bracket that opens at a place has values only; a remark has words or relations."""
        depth = 0
        for token in self.tokens[start:]:
            depth += (token.kind == "open") - (token.kind == "close")
            if not depth:
                return True
            if token.kind in {"word", "relation", "norm"} or token.text in {".", "…"}:
                return False
        return True

    def is_list(self) -> bool:
        """Whether the bracket that opens here has more than one entry."""
        depth = 0
        for place in range(self.place, len(self.tokens)):
            token = self.tokens[place]
            depth += (token.kind == "open") - (token.kind == "close")
            if depth == 0:
                return False
            if depth == 1 and place > self.place and self.separates(place):
                return True
        return False

    def separates(self, place: int) -> bool:
        token, before = self.tokens[place], self.tokens[place - 1]
        if token.text in {",", ";", "\n"}:
            return True
        return token.spaced and before.text not in "([{+-*/^" and token.text not in "+-*/^)]}"

    def power(self) -> Values:
        sign, both = self.sign()
        values = self.atom()
        while self.token().text == "'":
            self.place += 1
            values = list(map(_transposed, values))
        if self.token().text == "^":
            self.place += 1
            self.deepen()
            exponent = self.power()[0]
            values = [raised(value, exponent) for value in values]
            self.depth -= 1
        values = [signed(value, sign) for value in values]
        return [*values, *[signed(x, -1) for x in values]] if both and isinstance(values[0], Typed) else values

    def sign(self) -> tuple[int, bool]:
        """The product of some signs, and whether ± is among them."""
        texts = []
        while self.token().text in {"-", "+", "±"}:
            texts.append(self.token().text)
            self.place += 1
        return (-1) ** texts.count("-"), "±" in texts

    def deepen(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise InputError(tr("Brackets are nested more than {most} levels deep.", most=DEEPEST))

    def atom(self) -> Values:
        token = self.token()
        if token.kind == "open":
            return self.bracket()
        self.place += 1
        if token.kind == "function":
            self.deepen()
            value = applied(square_root if token.text == "sqrt" else cube_root, self.atom()[0])
            self.depth -= 1
            return [value]
        if token.kind == "symbol":
            return [Linear(((token.text, Typed(Decimal(1))),))]
        if token.kind != "number":
            self.place -= 1
            raise self.unexpected()
        value = literal(token.text)
        while self.token().text == "%":
            self.place += 1
            value = Typed(value.value / 100, (value.error or Decimal(1)) / 100, value.digits or 2, percent=True)
        return [value]

    def bracket(self) -> Values:
        opening = self.token().text
        self.place += 1
        self.deepen()
        rows: list[Values] = [[]]
        separators: set[str] = set()
        while self.token().kind != "close":
            if self.token().text in {";", "\n"}:
                separators.add(self.token().text)
                rows.append([])
                self.place += 1
            elif self.token().text == ",":
                self.place += 2 if self.token(1).text == "\n" else 1  # a comma continues the row on the next line
            elif self.place >= len(self.tokens):
                raise InputError(tr("A bracket is not closed."))
            else:
                rows[-1] += self.entry()
        if self.token().text != _CLOSING[opening]:
            raise InputError(tr("A bracket is not closed."))
        self.place += 1
        self.depth -= 1
        filled = [row for row in rows if row]
        broken = bool(filled) and separators == {"\n"}
        return _gathered(_unbroken(filled) if broken else filled, self.tokens[self.place - 2].text == ")")


def _unbroken(rows: list[Values]) -> list[Values]:
    """One row for a long vector that NumPy broke into lines: all of the same length, except a shorter last one."""
    *full, last = map(len, rows)
    return [list(chain.from_iterable(rows))] if len(set(full)) == 1 and last < full[0] else rows


def _transposed(value: Value) -> Value:
    return Grid(tuple(zip(*value.rows, strict=True))) if isinstance(value, Grid) else value


def _gathered(rows: list[Values], listed: bool) -> Values:
    """The content of a bracket: one entry unchanged, vectors as a list or as rows, or the numbers in rows."""
    if not rows:
        raise InputError(tr("A bracket is empty."))
    entries = list(chain.from_iterable(rows))
    if len(entries) == 1:
        return entries
    if any(isinstance(entry, Linear) for entry in entries):
        return _indices(entries)
    grids = [entry for entry in entries if isinstance(entry, Grid)]
    if grids:
        return _of_grids(entries, grids, listed)
    return [_grid(list(map(_numbers, rows)))]


def _numbers(values: Values) -> tuple[Typed, ...]:
    return tuple(value for value in values if isinstance(value, Typed))


def _of_grids(entries: Values, grids: list[Grid], listed: bool) -> Values:
    """A list of vectors or the rows of a matrix, several matrices, or eigenvalues with their vectors."""
    if len(grids) == len(entries):
        vectors = all(1 in grid.shape for grid in grids) and not listed
        return [_grid([tuple(chain(*grid.rows)) for grid in grids])] if vectors else entries
    kinds = [isinstance(entry, Grid) for entry in entries]
    if not len(kinds) % 2 and kinds == kinds[:2] * (len(kinds) // 2):
        return entries
    raise InputError(
        tr("A bracket mixes single numbers with inner brackets. Write either only numbers or only brackets.")
    )


def _indices(entries: Values) -> Values:
    """`{r_1, r_2}` as a set of numbers."""
    found = [entry for entry in entries if isinstance(entry, Linear) and entry.index]
    if len(found) < len(entries):
        raise InputError(
            tr("A bracket mixes single numbers with inner brackets. Write either only numbers or only brackets.")
        )
    return [Grid((tuple(Typed(Decimal(entry.index)) for entry in found),))]


def _grid(rows: list[tuple[Typed, ...]]) -> Grid:
    if len({len(row) for row in rows}) != 1:
        raise InputError(tr("The rows of a matrix differ in length."))
    return Grid(tuple(rows))
