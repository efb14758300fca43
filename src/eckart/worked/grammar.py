"""Numbers parsed by a small grammar; nothing is ever evaluated as code.

sum     = product (("+" | "-") product)*
product = power (("*" | "/" | nothing) power)*        nothing: before a root or a parenthesis, as in 3√2/2
power   = sign ("^" digits)?
sign    = ("-" | "+")* atom
atom    = number | "sqrt" "(" sum ")" | "(" sum ")"
number  = digits ("." digits)? ("e" digits)?
"""

from __future__ import annotations

import re

import sympy as sp

from eckart.errors import InputError
from eckart.worked.messages import mark, tr

_TOKEN = re.compile(r"\s*(?:([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+)|(sqrt|√)|(\*\*|[-+*/^()]))")
_SIGNS = str.maketrans({"−": "-", "–": "-", "·": "*", "×": "*", "⋅": "*", "⁄": "/"})
_LONGEST, _DEEPEST, _HIGHEST = 80, 8, 6
_ALLOWED = mark("Entries can be whole numbers, decimals, fractions such as 1/3 and roots such as sqrt(2).")


def number(text: str) -> sp.Expr:
    """The exact number that a text represents.

    >>> number("1/3"), number("-0.1"), number("(1 + sqrt(5))/2"), number("2*sqrt(2)^3")
    (1/3, -1/10, 1/2 + sqrt(5)/2, 4*sqrt(2))
    >>> number("−3√2/2"), number("2(1 + √3)")
    (-3*sqrt(2)/2, 2 + 2*sqrt(3))
    >>> number("exit()")
    Traceback (most recent call last):
    eckart.errors.InputError: 'exit()' is not a number: 'e' was not expected. Entries can be ...
    """
    if len(text) > _LONGEST:
        raise InputError(
            tr("The entry {start}... has {count} characters, but an entry can have at most {most}. "
            "Shorten it.",
               start=repr(text[:20]), count=len(text), most=_LONGEST)
        )  # fmt: skip
    reader = _Reader(text)
    value = sp.expand(sp.radsimp(reader.sum()))
    reader.end()
    return value


class _Reader:
    """One text, read from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text.strip().translate(_SIGNS)
        self.place = 0
        self.depth = 0

    def refuse(self, what: str) -> InputError:
        return InputError(tr("{entry} is not a number: {why}", entry=repr(self.text), why=what) + f" {tr(_ALLOWED)}")

    def token(self) -> str:
        """The next token, or '' at the end; anything else is refused."""
        match = _TOKEN.match(self.text, self.place)
        if match:
            return match[0].strip()
        rest = self.text[self.place :].strip()
        if rest:
            raise self.refuse(tr("{sign} was not expected.", sign=repr(rest[0])))
        return ""

    def take(self) -> str:
        token = self.token()
        self.place = self.text.find(token, self.place) + len(token)
        return token

    def end(self) -> None:
        if token := self.token():
            raise self.refuse(tr("{sign} was not expected.", sign=repr(token)))

    def sum(self) -> sp.Expr:
        value = self.product()
        while self.token() in {"+", "-"}:
            value = value + self.product() if self.take() == "+" else value - self.product()
        return value

    def product(self) -> sp.Expr:
        value = self.power()
        while (token := self.token()) in {"*", "/", "sqrt", "√", "("}:
            if token not in {"*", "/"} or self.take() == "*":
                value = value * self.power()
                continue
            below = sp.expand(self.power())
            if below == 0:
                raise self.refuse(tr("It contains a division by zero."))
            value = value / below
        return value

    def power(self) -> sp.Expr:
        if self.token() in {"-", "+"}:
            return -self.power() if self.take() == "-" else self.power()
        value = self.atom()
        if self.token() in {"^", "**"}:
            self.take()
            exponent = self.take()
            if not exponent.isdigit() or int(exponent) > _HIGHEST:
                raise self.refuse(tr("An exponent must be a whole number from 0 to {most}.", most=_HIGHEST))
            value = value ** int(exponent)
        return value

    def atom(self) -> sp.Expr:
        token = self.take()
        if token in {"sqrt", "√"}:
            if token == "√" and self.token() != "(":
                return self.root(self.atom())
            if self.token() != "(":
                raise self.refuse(tr("A root needs parentheses, as in sqrt(2)."))
            return self.root(self.atom())
        if token == "(":
            return self.inside()
        if not token or not (token[0].isdigit() or token[0] == "."):
            raise self.refuse(
                tr("{sign} was not expected.", sign=repr(token)) if token else tr("Something is missing at the end.")
            )
        return self.literal(token)

    def literal(self, token: str) -> sp.Expr:
        digits, _, exponent = token.lower().partition("e")
        if len(digits) > 30 or abs(int(exponent or 0)) > 30:
            raise self.refuse(tr("It has more than 30 digits."))
        return sp.Rational(token)

    def root(self, value: object) -> sp.Expr:
        if sp.N(value) < 0:
            raise self.refuse(tr("It contains the root of a negative number, but entries must be real numbers."))
        return sp.sqrt(value)

    def inside(self) -> sp.Expr:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.refuse(tr("Brackets are nested more than {most} levels deep.", most=_DEEPEST))
        value = self.sum()
        if self.take() != ")":
            raise self.refuse(tr("A bracket is not closed."))
        self.depth -= 1
        return value
