"""Checks of arguments that several solutions share."""

from __future__ import annotations

from eckart.errors import ParameterError


def whole(name: str, given: object, least: int, most: int) -> int:
    """A whole number from `least` to `most`.

    >>> whole("k", 2, 1, 3)
    2
    """
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
        raise ParameterError(f"{name}={given!r} is not possible: give a whole number from {least} to {most}.")
    return given
