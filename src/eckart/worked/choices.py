"""A seed as a list of choices: different seeds give different choices, and neighbouring seeds look unrelated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """The digits of a seed in mixed radix, after a permutation of the seeds of one block.

    A block holds as many seeds as there are combinations; `block` counts the blocks before, so that what depends on it
    never repeats.

    >>> a, b = Choices(7, [3, 5]), Choices(8, [3, 5])
    >>> (a.number(), a.number()) == (b.number(), b.number())
    False
    """

    def __init__(self, seed: int, radices: Sequence[int]) -> None:
        count = math.prod(radices)
        self.block, inside = divmod(seed, count)
        step = max(1, round(count * 0.618))
        while math.gcd(step, count) != 1:
            step += 1
        inside = (inside * step + count // 3) % count
        self._digits: list[int] = []
        for radix in radices:
            inside, digit = divmod(inside, radix)
            self._digits.append(digit)

    def number(self) -> int:
        """The next digit."""
        return self._digits.pop(0)

    def of(self, items: Sequence[T]) -> T:
        """One of the items, by the next digit; their number must be its radix."""
        return items[self.number()]

    def numbers(self, count: int, lowest: int = 0) -> list[int]:
        """Some digits, counted from `lowest`."""
        return [self.number() + lowest for _ in range(count)]
