"""Orthonormal blocks on a GPU without waiting for the host: formed first, checked by the host later.

They are valid if no direction had to be dropped, which is nearly always so. Otherwise `orthogonal` is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eckart.arrays import Array, empty_rows, to_numpy
from eckart.engine.backends.cuda import whiten as cuda_whiten
from eckart.engine.backends.cuda.constants import NEARLY_ORTHOGONAL, WELL_CONDITIONED
from eckart.engine.backends.tall import inner, times
from eckart.engine.backends.written import less_product


@dataclass(frozen=True)
class Made:
    """A block after two rounds Z -> Z W, and the statistics of Z."""

    block: Array
    facts: Callable[[], np.ndarray]

    def good(self, floor: float, later_floor: float = 0.0) -> bool:
        """Whether nothing was dropped: lengths above the floors, factors trusted, the second Z orthogonal."""
        (shortest, least, _), (later_shortest, later_least, off_diagonal) = self.facts()
        long_enough = shortest > floor and later_shortest > later_floor
        trusted = least > WELL_CONDITIONED and later_least > WELL_CONDITIONED
        return bool(long_enough and trusted and off_diagonal < NEARLY_ORTHOGONAL)


def usable(block: Array) -> bool:
    return cuda_whiten.usable(block)


Fetch = Callable[[Array], Callable[[], np.ndarray]]
"""Copies an array to the host, to be read later (`Backend.fetch_async`)."""


def _on_demand(array: Array) -> Callable[[], np.ndarray]:
    return lambda: to_numpy(array)


def orthonormalized(block: Array, gram: Array | None = None, *bases: Array, fetch: Fetch = _on_demand) -> Made:
    """Q with Q^T Q = I and span Q = span Z without its part along the bases, in two rounds.

    `gram` is Z^T Z if known.
    """
    facts = empty_rows(2, 3, block)
    block = times(block, cuda_whiten.whiten(inner(block, block) if gram is None else gram, facts, 0))
    block = cleared(block, *bases)  # ours by now
    block = times(block, cuda_whiten.whiten(inner(block, block), facts, 1))
    return Made(block, fetch(facts))


def cleared(block: Array, *bases: Array) -> Array:
    """Z without its parts along mutually orthogonal bases, projected twice, which is enough. Overwrites Z."""
    for basis in (*bases, *bases):
        block = less_product(block, basis, inner(basis, block)) if basis.shape[1] else block
    return block
