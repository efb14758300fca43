"""Long names cut to a length so that different names stay different."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from eckart.formatting import clean

_ELLIPSIS = "..."
_LONGEST = 2000
"""Characters of a name that are compared."""


def short_names(names: Iterable[str], length: int) -> dict[str, str]:
    """Each name with a form of at most `length` characters.

    A long name is cut in the middle. Names with the same beginning keep the part in which they differ.

    >>> words = ["expenditure on food per year", "expenditure on rent per year", "income"]
    >>> short_names(words, 16)
    {'expenditure on food per year': 'exp...food', 'expenditure on rent per year': 'exp...rent', 'income': 'income'}
    """
    return dict(_shortened(tuple(dict.fromkeys(names)), length))


@lru_cache(maxsize=16)
def _shortened(names: tuple[str, ...], length: int) -> dict[str, str]:
    full = {name: clean(name[:_LONGEST]) for name in names}
    short = {name: _in_middle(text, length) for name, text in full.items()}
    for group in _alike(full, length):
        texts = [full[name] for name in group]
        start = _common(texts)
        end = min(_common([text[::-1] for text in texts]), min(map(len, texts)) - start)
        short |= {name: _differing(full[name], start, end, length) for name in group}
    for group in _collisions(short):
        for number, name in enumerate(group, start=1):
            mark = f"~{number}"
            short[name] = short[name][: length - len(mark)] + mark
    return short


def _alike(full: dict[str, str], length: int) -> list[list[str]]:
    """Groups of long names that begin with the same characters, as far as the cut keeps them."""
    groups = defaultdict(list)
    for name, text in full.items():
        if len(text) > length:
            groups[text[: length // 2]].append(name)
    return [group for group in groups.values() if len(group) > 1]


def _collisions(short: dict[str, str]) -> list[list[str]]:
    groups = defaultdict(list)
    for name, text in short.items():
        groups[text].append(name)
    return [group for group in groups.values() if len(group) > 1]


def _common(texts: list[str]) -> int:
    """Number of characters with which all of them begin; the first and the last in order share the fewest."""
    first, last = min(texts), max(texts)
    return next((i for i, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))


def _in_middle(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    tail = (length - len(_ELLIPSIS)) // 3
    return text[: length - len(_ELLIPSIS) - tail] + _ELLIPSIS + text[len(text) - tail :]


def _differing(text: str, start: int, end: int, length: int) -> str:
    """The first characters, and the part that differs, from the beginning of its first word to the end of its last."""
    start = text.rfind(" ", 0, start) + 1
    stop = text.find(" ", len(text) - end) if end else -1
    part = text[start : stop if stop >= 0 else len(text)]
    head = min(start, max(length // 4 - 1, 0))
    room = length - head - len(_ELLIPSIS)
    return text[:head].rstrip() + _ELLIPSIS + _in_middle(part, room) if start else _in_middle(part, length)
