"""Tokens of an answer: words, numbers, brackets, relations and signs, with the number of brackets around them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<function>(?:sqrt|cbrt)(?![^\W\d_]))
    |(?P<word>[^\W\d_](?:[\w'~]|\.(?=[^\W\d_])|-(?=[^\W\d_]{3}))*(?:\+(?=\s*(?:[=≈:]|->)))?(?:\^\([-+]?\w*\)|\^[-+]?\w*)?)
    |(?P<number>(?:\d+(?:[.,]\d+)+|\d+(?:\.(?!\s+[^\W\d_]))?|\.\d+)(?:[eE][-+]?\d+(?!\w))?(?:[^\S\n]*%)?)
    |(?P<relation>->|[=≈:])
    |(?P<open>[(\[{])
    |(?P<close>[)\]}])
    |(?P<end>[;\n]|\.(?=[\s;]|$))
    |(?P<sign>\S)""",
    re.VERBOSE,
)
IS = {"is", "are", "è", "sono", "vale", "es", "son", "равен", "равна", "равно", "равны"}


@dataclass(frozen=True)
class Token:
    """A piece of text, the space before it, and the number of brackets around it."""

    kind: str
    text: str
    space: str = ""
    depth: int = 0

    @property
    def is_word(self) -> bool:
        return self.kind == "word" or self.text in {"‖", "|"}

    @property
    def ends_value(self) -> bool:
        return self.kind in {"number", "close"} or self.text == "'"

    @property
    def starts_value(self) -> bool:
        return self.kind in {"number", "open", "function"} or self.text in {"-", "+", "±"}


Tokens = list[Token]


def tokens_of(text: str) -> Tokens:
    found: Tokens = []
    depth = place = 0
    for match in _TOKEN.finditer(text):
        kind, own = str(match.lastgroup), match[0]
        named = bool(found) and found[-1].kind == "word" and re.search(r"\d$|\^", found[-1].text)
        if own in IS and named and re.match(r"[^;.\n]*\d", text[match.end() :]):
            kind, own = "relation", "="  # v1 is (1, 2), V^T is [1 2; 3 4]
        depth -= kind == "close"
        found.append(Token(kind, own, text[place : match.start()], depth))
        depth += kind == "open"
        place = match.end()
    return found


def text_of(tokens: Sequence[Token]) -> str:
    return "".join(token.space + token.text for token in tokens).strip()


def cut(tokens: Tokens, kind: str) -> list[Tokens]:
    """The tokens between those of a kind, outside brackets."""
    pieces: list[Tokens] = [[]]
    for token in tokens:
        if token.kind == kind and token.depth <= 0:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return pieces


def group_end(tokens: Tokens, start: int) -> int:
    """The end of the bracket that opens at `start`."""
    depth = tokens[start].depth
    stops = (i for i in range(start + 1, len(tokens)) if tokens[i].kind == "close" and tokens[i].depth == depth)
    return next(stops, len(tokens) - 1)
