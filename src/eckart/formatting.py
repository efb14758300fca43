"""Numbers, shares and names as plain, inert text."""

from __future__ import annotations

import math
import textwrap
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache


def clean(text: str) -> str:
    """The text with all invisible and control characters escaped: ESC cannot colour, U+202E cannot reverse."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}:
        return character.encode("unicode_escape", "surrogatepass").decode("ascii")
    return character


def shorten(text: str, length: int) -> str:
    """The text, clean, cut to at most `length` characters."""
    text = clean(text[: 4 * length + 4])
    return text if len(text) <= length else text[: length - 3] + "..."


def wrapped(text: str, width: int = 80, indent: str = "") -> str:
    """The text in lines of at most `width` characters, further ones indented; a number stays with its '%'.

    >>> print(wrapped("The two components explain 86.7502 % of it.", 35))
    The two components explain
    86.7502 % of it.
    """
    joined = text.replace(" %", "\xa0%")
    lines = textwrap.wrap(joined, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\xa0%", " %")


def percent(share: float, digits: int = 1) -> str:
    """0.62006 -> '62.0 %'; less than everything is never rounded up to 100 %."""
    factor = 10.0**digits
    if 1 - 0.5 / (100 * factor) <= share < 1 - 1e-9:
        return f"{math.floor(100 * share * factor) / factor:.{digits}f} %"
    return f"{100 * share:.{digits}f} %"


def precise_percent(share: float) -> str:
    """12.34 %, with three digits below one percent."""
    return f"{100.0 * share:.2f} %" if share >= 0.01 else f"{100.0 * share:.3g} %"


def interval(lower: float, upper: float, digits: int = 2) -> str:
    """Bounds of a share in percent, rounded outwards so that the printed bounds are still valid: '62.00 to 62.01 %'.

    Bounds closer than a hundredth of the last digit are printed as one number, rounded as usual.
    """
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return "not known"
    if upper - lower <= 10.0 ** (-4 - digits):
        return percent(lower, digits)
    factor = 10.0**digits
    low = max(math.floor(100 * lower * factor) / factor, 0.0)
    high = min(math.ceil(100 * upper * factor) / factor, 100.0)
    return f"{low:.{digits}f} to {high:.{digits}f} %"


def indices(largest: float) -> int | None:
    """Number of decimals that shows four digits of the largest number of a column; None if only powers of ten can."""
    if largest == 0:
        return 1
    if not 1e-3 <= largest < 1e7:
        return None
    return max(3 - max(math.floor(math.log10(largest * (1 + 1e-9))), -1), 0)


def number(value: float) -> str:
    """One number in few characters: 0.58318 -> '0.5832'."""
    if not math.isfinite(value):
        return "not known"
    decimals = indices(abs(value))
    return f"{value:.3e}" if decimals is None else f"{value:,.{decimals}f}"


def counted(count: int, one: str, many: str | None = None) -> str:
    """'1 component', '1,200 components'."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def allowed(memory: int) -> str:
    """'1 byte is allowed', '1,000 bytes are allowed'."""
    return f"{counted(memory, 'byte')} {'is' if memory == 1 else 'are'} allowed"


def joined(words: list[str], last: str = "and") -> str:
    """'a, b and c'."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}" if words else "nothing"


def certified_share(k: int, low: float, high: float, odds: str = "", *, smallest: bool = False, places: int = 4) -> str:
    """The share that k components are proved to explain, and the most that k can, in one sentence.

    Others explain more than the smallest ones: bounds of the share are all that can be said of these.
    """
    if smallest:
        which = "The smallest component explains" if k == 1 else f"The {k} smallest components explain"
        return f"{which} at least {percent(low, places)} and at most {percent(high, places)} of the total{odds}."
    best = "single component" if k == 1 else f"{k} components"
    explained = counted(k, "component explains", "components explain")
    most = f"no {best} can explain more than {percent(high, places)}"
    return f"{explained} {percent(low, places)} of the total; {most}{odds}."


def quoted(name: str) -> str:
    """A name for a sentence: one line, not too long."""
    text = name if len(name) <= 60 else name[:57] + "..."
    return repr(text)


def listed(names: Sequence[str]) -> str:
    """Names for a sentence: at most eight of them."""
    shown = ", ".join(quoted(name) for name in names[:8])
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"


def about_columns(names: Sequence[str], one: str, many: str) -> str:
    """A sentence about one column or several, in the singular or the plural.

    >>> about_columns(["x"], "is empty.", "are empty.")
    "The column 'x' is empty."
    """
    return f"The column {listed(names)} {one}" if len(names) == 1 else f"The columns {listed(names)} {many}"


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
