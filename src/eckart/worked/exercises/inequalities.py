"""Chains of inequalities between numbers, `8 sqrt3 > 4 sqrt6 > 3 sqrt2`, as lists.

Text in, text out, as in `typed`. Only a true chain is a list: a false one stays, and cannot be read.
"""

from __future__ import annotations

import re
from decimal import Decimal

from eckart.errors import InputError
from eckart.worked.exercises.arithmetic import Typed
from eckart.worked.exercises.expressions import Reader
from eckart.worked.exercises.tokens import tokens_of

_NUMBER = r"[-+(]*(?:\d|[sc]qrt)(?:[\d.()*/^]|,(?=\d)|[sc]qrt|(?<=[\d)])[^\S\n]*(?=[sc]qrt)|(?<=qrt)[^\S\n]+(?=[\d(]))*"
_SIGN = r"[^\S\n]*(?:[<>]=?|[≤≥])[^\S\n]*"
_CHAIN = re.compile(
    rf"(?<![\w^*/.<>=≤≥])(?<![<>=≤≥]\s){_NUMBER}[^\S\n]*%?(?:{_SIGN}{_NUMBER}[^\S\n]*%?)+(?![^\S\n]*[<>=≤≥]|[\w^*/])"
)
_SYMBOL = r"\|?[^\W\d_](?:ambda|igma)?_?\d\|?"
_SYMBOLS = re.compile(rf"(?<![\w|]){_SYMBOL}(?:{_SIGN}{_SYMBOL})+(?![^\S\n]*[<>=≤≥≈]|\w)")  # |r3| > |r1|
_NAMED = re.compile(rf"({_NUMBER})({_SIGN})(?=(\|?[^\W\d_]\w*\|?\s*[=≈]\s*({_NUMBER})))")


def chains_as_lists(text: str) -> str:
    """The text with commas in true chains; one comparison with a percentage or a share is left as it is.

    >>> chains_as_lists("8 sqrt3 > 4 sqrt6 > sqrt(18), k = 2"), chains_as_lists("sqrt2 > 3")
    ('8 sqrt3, 4 sqrt6, sqrt(18), k = 2', 'sqrt2 > 3')
    >>> chains_as_lists("|r3| > |r1|, so columns 1, 3")
    ', so columns 1, 3'
    >>> chains_as_lists("r2 = 0.9 > r1 = 0.4"), chains_as_lists("r2 = 0.4 > r1 = 0.9")
    ('r2 = 0.9, r1 = 0.4', 'r2 = 0.4 > r1 = 0.9')
    """
    return _NAMED.sub(_compared, _CHAIN.sub(_listed, _SYMBOLS.sub("", text)))


def _compared(found: re.Match[str]) -> str:
    """`3 > b = 2` as `3, b = 2`, if it is true."""
    true = _is_true([_value(found[1]), _value(found[4])], {found[2].strip()[0]})
    return f"{found[1]}, " if true else found[0]


def _listed(found: re.Match[str]) -> str:
    members = [one.strip() for one in re.split(_SIGN, found[0])]
    signs = {one.strip()[0] for one in re.findall(_SIGN, found[0])}
    is_share = len(members) == 2 and ("%" in found[0] or re.match(r"0[.,]", members[1]))
    return ", ".join(members) if not is_share and _is_true(list(map(_value, members)), signs) else found[0]


def _is_true(values: list[Decimal | None], signs: set[str]) -> bool:
    """Whether all values are known and in the order of the signs, which point in one direction."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return False
    falls, rises = signs <= set(">≥"), signs <= set("<≤")
    return (falls and known == sorted(known, reverse=True)) or (rises and known == sorted(known))


def _value(text: str) -> Decimal | None:
    tokens = tokens_of(re.sub(r"(?<=\d),(?=\d)", ".", text))
    try:
        values, stop = Reader(tokens, product=2).read(0, named=False)
    except InputError:
        return None
    complete = len(values) == 1 and all(token.kind == "end" for token in tokens[stop:])
    return values[0].value if complete and isinstance(values[0], Typed) else None
