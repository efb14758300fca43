"""Checks of arguments that several solutions share, in the language in use."""

from __future__ import annotations

from collections.abc import Sequence

from eckart.errors import ParameterError
from eckart.options import near_match
from eckart.wording import either
from eckart.worked.messages import tr

_POSITIONAL = {"kind", "lesson"}
"""Arguments without an option on the command line."""


def argument(name: str, given: object) -> str:
    """An argument with its value as it was typed: `share=2` in Python, `--share 2` on the command line."""
    if name in _POSITIONAL:
        return either(f"{name}={given!r}", repr(given).replace("_", "-"))
    listed = ",".join(map(str, given)) if isinstance(given, Sequence) and not isinstance(given, str) else str(given)
    return either(f"{name}={given!r}", f"{'-' if len(name) == 1 else '--'}{name.replace('_', '-')} {listed}")


def whole(name: str, given: object, least: int, most: int) -> int:
    """A whole number from `least` to `most`.

    >>> whole("k", 2, 1, 3)
    2
    """
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
        shown = argument(name, given)
        raise ParameterError(
            tr("{given} is out of range. Use a whole number from {least} to {most}.", given=shown, least=least,
               most=most),
            argument=name, value=given,
        )  # fmt: skip
    return given


def one_of(name: str, given: object, allowed: Sequence[str]) -> None:
    """One of some words; on the command line kernel_pca is kernel-pca."""
    if not isinstance(given, str) or given not in allowed:
        words = ", ".join(allowed)
        listed = either(", ".join(map(repr, allowed)), words.replace("_", "-"))
        shown = tr("{given} is not one of {listed}", given=argument(name, given), listed=listed)
        raise ParameterError(shown + _hint(given, allowed), argument=name, value=given)


def _hint(given: object, allowed: Sequence[str]) -> str:
    near = near_match(str(given), allowed)
    if near == ".":
        return near
    word = near.split("'")[1]
    return tr("; did you mean {word}?", word=either(repr(word), word.replace("_", "-")))
