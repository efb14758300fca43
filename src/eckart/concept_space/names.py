"""Names of rows and columns, the index of a name, and close matches for a wrong one."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eckart.errors import InputError
from eckart.options import place_by_number

_SEARCHED = 50_000


@dataclass(frozen=True)
class Names:
    """The names of `count` rows or columns; without names they are numbered."""

    what: str
    count: int
    given: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.given is not None and len(self.given) != self.count:
            raise InputError(
                f"The number of names ({len(self.given):,}) differs from the number of {self.what}s ({self.count:,}). "
                f"Pass one name per {self.what}."
            )

    def label(self, place: int) -> str:
        """Its name, or x1, x2, ... for columns and 1, 2, ... for rows."""
        if self.given is not None:
            return self.given[place]
        return f"x{place + 1}" if self.what == "column" else str(place + 1)

    def labels(self, indices: Sequence[int] | np.ndarray) -> tuple[str, ...]:
        return tuple(self.label(int(place)) for place in indices)

    def place(self, name: object) -> int:
        """The index of a name; a whole number is an index, counted from 0, unless the names are whole numbers."""
        if isinstance(name, int | np.integer) and not isinstance(name, bool):
            found = place_by_number(int(name), self.given, self.what, InputError)
            if found is not None:
                return found
            if not 0 <= int(name) < self.count:
                raise InputError(
                    f"There is no {self.what} {int(name)}. Use an index from 0 to {self.count - 1}, or a name."
                )
            return int(name)
        if not isinstance(name, str):
            raise InputError(
                f"{name!r} does not identify a {self.what}. Use the name of the {self.what}, or its index "
                "counted from 0."
            )
        found = self.find(name)
        if found is None:
            raise InputError(f"There is no {self.what} {_shown(name)}{self.hint([name])}")
        if found < 0:
            raise InputError(
                f"Several {self.what}s have the name {_shown(name)}. Use the index of the {self.what} "
                "instead, counted from 0."
            )
        return found

    def find(self, name: str) -> int | None:
        """The index of the name; None if there is none, -1 if there are several."""
        if self.given is not None:
            return self._indices.get(name)
        digits = name.removeprefix("x") if self.what == "column" else name
        number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else 0
        return number - 1 if 0 < number <= self.count and self.label(number - 1) == name else None

    def hint(self, wrong: Sequence[str]) -> str:
        """'. Did you mean ...?', or a list of the names."""
        near = dict.fromkeys(match for name in wrong[:5] for match in self._near(name))
        if near:
            return f". Did you mean {' or '.join(map(_shown, list(near)[:5]))}?"
        some = ", ".join(_shown(self.label(place)) for place in range(min(self.count, 3)))
        more = f", ... ({self.count:,} in total)" if self.count > 3 else ""
        return f". The names of the {self.what}s are {some}{more}."

    def _near(self, name: str) -> list[str]:
        if self.given is None or len(name) > 200:
            return []
        folded = self._folded
        if name.casefold() in folded:
            return [folded[name.casefold()]]
        return [folded[match] for match in _close(name.casefold(), list(folded))]

    @cached_property
    def _indices(self) -> dict[str, int]:
        indices: dict[str, int] = {}
        for place, name in enumerate(self.given or ()):
            indices[name] = -1 if name in indices else place
        return indices

    @cached_property
    def _folded(self) -> dict[str, str]:
        return {name.casefold(): name for name in reversed(self.given or ())}


def _shown(name: str) -> str:
    return repr(name if len(name) <= 60 else name[:57] + "...")


def listed(names: Sequence[str], most: int = 5) -> str:
    """'a', 'b', ... (12 in all)."""
    some = ", ".join(map(_shown, names[:most]))
    return f"{some}, ... ({len(names):,} in total)" if len(names) > most else some


def _close(name: str, pool: list[str]) -> list[str]:
    """At most two names that differ in a few letters, or that contain the name."""
    # comparing letters with so many takes seconds: consider only names with the same beginning
    if len(pool) > _SEARCHED:
        pool = [other for other in pool if other[:2] == name[:2]][:_SEARCHED]
    near = difflib.get_close_matches(name, pool, n=2)
    if near or len(name) <= 2:
        return near
    return [other for other in pool if name in other][:2]
