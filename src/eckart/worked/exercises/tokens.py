"""Tokens of an answer: numbers, symbols with their indices, words, brackets, relations and separators.

A symbol is a letter or a Greek name with an index, a power and an argument: `v_2`, `A^T`, `x(1,2)`, `row 3`. Everything
else that consists of letters is a word of prose.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from eckart.worked.exercises.lexicon import IS, PLACES, place_noun, word_set
from eckart.worked.exercises.ordinals import ORDINAL, ordinal_of

_POWER = r"(?:\^(?:\([-+]?\w*\)|[-+]?\w+|[-+](?!\w)))"
_LETTER = r"(?:lambda|sigma|Lambda|Sigma|mu|rho|phi|[^\W\d_](?!['’]?[^\W\d_]|-[^\W\d_]{3}))"
_ONE = rf"{_LETTER}'?(?:_?\d+(?![.,]\d)|_[^\W\d_]+\d?|[₊₋+−](?=\s*=))?['~]*{_POWER}?"
_FACTOR = rf"[A-Za-z](?:_?\d)?{_POWER}?"
_TOKEN = re.compile(
    rf"""(?P<number>(?:\d+\.\d+|\d+\.(?!\s*[^\W\d_]|\s*$|\s*\n)|\d+|\.\d+)(?:[eE][-+]?\d+(?!\w))?)
    |(?P<function>(?:sqrt|cbrt)(?![^\W\d_]))
    |(?P<norm>‖[^‖\n]*‖(?:_?\(?[^\W\d_]\w*\)?|_?\d)?(?:\^\(?2\)?)?)
    |(?P<symbol>[AM][vxuw](?:_?\d)?(?![\w^])|\|\s?[A-Z]\s?\||[A-Z]\+(?=\s*(?:[=≈:]|->|is\b|è|es\b|$|\n))
        |(?=[A-Za-z_]+[\d^])(?!row|col|rig|fil|lin|[a-z]{{3,}}\d)(?:{_FACTOR}){{2,4}}(?![^\W\d_])|[A-Za-z]?[A-Z]{{2,4}}{_POWER}?(?![^\W\d_])|{_ONE})
    |(?P<word>[^\W\d_](?:[\w'’]|-(?=[^\W\d_]{{2}})|\.(?=[^\W\d_]\.))*(?:\^\(?2\)?)?)
    |(?P<relation>->|[=≈:])
    |(?P<open>[(\[{{])
    |(?P<close>[)\]}}])
    |(?P<end>[;\n]|\.(?=\s|$))
    |(?P<comma>,)
    |(?P<sign>\S)""",
    re.VERBOSE,
)
_CONJUNCTIONS = word_set("a e y o i u è é à è ò и в с к о у а я E A Y I O В С И К У О")


@dataclass(frozen=True)
class Token:
    """A piece of text, and whether there is a space before it."""

    kind: str
    text: str
    spaced: bool = False

    @property
    def is_operand(self) -> bool:
        return self.kind in {"number", "function", "open"}

    @property
    def starts_value(self) -> bool:
        return self.is_operand or self.kind == "symbol" or self.text in {"-", "+", "±"}


Tokens = list[Token]


def tokens_of(text: str) -> Tokens:
    """The tokens of a text.

    >>> [token.text for token in tokens_of("row 3 = 2 r_1 - A^T v, rank(A) is 2.")]
    ['row_3', '=', '2', 'r_1', '-', 'A^T', 'v', ',', 'rank(A)', 'is', '2', '.']
    """
    found: Tokens = []
    place = 0
    for match in _TOKEN.finditer(text):
        kind, spaced = str(match.lastgroup), match.start() > place
        found.append(Token(kind, match[0], spaced))
        place = match.end()
    return _places(_arguments([_sorted(found, i) for i in range(len(found))]))


def _sorted(tokens: Tokens, place: int) -> Token:
    """A single letter as a word if it is a conjunction or an article here: `3 e 4`, `A basis is`, `I found`."""
    token = tokens[place]
    if token.kind != "symbol" or token.text not in _CONJUNCTIONS:
        return token
    factor = place > 0 and tokens[place - 1].kind == "number" and not token.spaced  # 4i
    following = tokens[place + 1] if place + 1 < len(tokens) else Token("end", "")
    return token if factor or _is_symbol(token, following) else replace(token, kind="word")


def _is_symbol(token: Token, following: Token) -> bool:
    """Whether a letter that may be a conjunction is a symbol, because of what follows."""
    applied = following.text in {"(", "‖"} and not following.spaced
    if following.kind == "relation" or applied:
        return True
    if token.text == "A":
        return not _is_noun(following) or following.text in IS
    return token.text in {"E", "C"} and following.kind in {"symbol", "sign", "close", "end"}


def _is_noun(token: Token) -> bool:
    return token.kind == "word" and len(token.text) > 2 and token.text.islower()


def _arguments(tokens: Tokens) -> Tokens:
    """Symbols with the bracket that follows directly: `x(1,2)`, `E(-6)`; after a word, one letter is left out."""
    found: Tokens = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        place += 1
        bracket = place < len(tokens) and tokens[place].kind == "open" and not tokens[place].spaced
        if bracket and token.kind in {"symbol", "word"}:
            stop = _close(tokens, place)
            text = _with_argument(token, tokens[place + 1 : stop])
            if text is not None:
                token, place = replace(token, text=text), stop + 1
        found.append(token)
    return found


def _with_argument(token: Token, argument: Tokens) -> str | None:
    """A symbol or a word with the argument behind it; None if the bracket is a value of its own."""
    inside = "".join(("" if one.text == "=" else " " * one.spaced) + one.text for one in argument)
    if token.kind == "symbol":
        return f"{token.text}({inside.strip()})" if len(inside) < 3 or not _is_vector(argument) else None
    if re.fullmatch(r"[AMX]", inside.strip()):
        return f"{token.text}(A)"
    if re.fullmatch(r"[^\W\d]{2,}(?: [^\W\d_]+)*", inside.strip()):
        return token.text
    return f"{token.text}({inside})" if re.search(r"[^\W\d_]", inside) and "sqrt" not in inside else None


def _is_vector(tokens: Tokens) -> bool:
    """Whether a bracket has numbers that cannot be indices."""
    numbers = [token.text for token in tokens if token.kind == "number"]
    whole = all(len(one) == 1 and one != "0" for one in numbers)
    signed = any(token.text in "-/+" for token in tokens)
    return len(numbers) > 1 and (signed or not whole)


def _close(tokens: Tokens, start: int) -> int:
    """The end of the bracket that opens at `start`, or the last token."""
    depth = 0
    for place in range(start, len(tokens)):
        depth += (tokens[place].kind == "open") - (tokens[place].kind == "close")
        if not depth:
            return place
    return len(tokens) - 1


def _places(tokens: Tokens) -> Tokens:
    """`row 3` and `third row` as the symbol row_3; `rows 1, 2` and `the first row of Q is` are words."""
    found: Tokens = []
    rest = [piece for token in tokens for piece in _parted(token)]
    place = 0
    while place < len(rest):
        name = _place_name(*(rest[place : place + 3] + [Token("end", "")] * 2)[:3])
        found.append(Token("symbol", name, rest[place].spaced) if name else rest[place])
        place += 2 if name else 1
    return found


def _parted(token: Token) -> Tokens:
    """`row3` as a noun and a number."""
    joined = re.fullmatch(r"([^\W\d]+?)_?([1-9])", token.text) if token.kind == "word" else None
    if joined is None or not place_noun(joined[1]):
        return [token]
    return [replace(token, text=joined[1]), Token("number", joined[2])]


def _place_name(token: Token, after: Token, beyond: Token) -> str:
    """row_3 for `row 3` and for `third row`; "" if there is no such name."""
    if token.kind != "word":
        return ""
    if re.fullmatch(ORDINAL, token.text, re.IGNORECASE) and (noun := place_noun(after.text, heads=True)):
        return f"{noun}_{ordinal_of(token.text)}"
    numbered = after.kind == "number" and re.fullmatch(r"[1-9]", after.text)
    computed = beyond.text in {"-", "/"} and not beyond.spaced
    noun = place_noun(token.text, heads=beyond.kind == "relation")
    return f"{noun}_{after.text}" if noun and numbered and not computed else ""


__all__ = ["PLACES", "Token", "Tokens", "tokens_of"]
