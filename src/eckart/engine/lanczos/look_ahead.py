"""The next product, begun before the host has checked what it follows from.

Where the host only queues work, waiting for T and R leaves the arrays idle. So as soon as the next block is formed, its
product is queued, and the host waits and checks convergence meanwhile. A product costs the same up to a multiple of
`Matrix.tile` columns: while probes have not joined, they are drawn beforehand and multiplied along.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eckart.arrays import Array, namespace
from eckart.engine.backends.base import Draft, Speculation
from eckart.engine.lanczos.terms import PROBES, Matrix

_ROUNDING_ONLY = 1e-3
"""Of a unit column that was rounding only, no more than this is left outside of the basis."""


@dataclass(frozen=True)
class Ahead:
    """A block, not checked yet, and G times it."""

    following: Array
    """The next block."""
    block: Array
    """The same, and the probes where they cost nothing."""
    product: Speculation[Array]
    """G times `block`."""
    probes: Draft | None = None
    coordinates: Callable[[], np.ndarray] | None = None
    """Q^T Omega for the probes Omega and the orthonormal Q formed from them."""

    def probes_for(self, following: Array) -> Callable[[], np.ndarray] | None:
        """Coordinates of the probes in `block`, if that begins with `following` and they turn out orthonormal."""
        if self.probes is None or following is not self.following:
            return None
        return self.coordinates if self.probes.good(0.0, _ROUNDING_ONLY) else None


def look_ahead(
    matrix: Matrix, vectors: Array, following: Array, rng: Callable[[], np.random.Generator] | None
) -> Ahead:
    """Begin G times `following`; with probes drawn from `rng` if one is given and there is room for them."""
    backend = matrix.backend
    if rng is not None and -following.shape[1] % matrix.tile >= PROBES:
        random = backend.normals(rng(), matrix.size, PROBES)
        probes = backend.draft_next_block(random, None, vectors, following)
        if probes is not None:
            coordinates = backend.fetch_async(backend.inner(probes.block, random))
            block = namespace(following).concat([following, probes.block], axis=1)
            product = backend.speculate(lambda: matrix.apply(block))
            return Ahead(following, block, product, probes, coordinates)
    return Ahead(following, following, backend.speculate(lambda: matrix.apply(following)))


def product_of(matrix: Matrix, block: Array, following: Array, ahead: Ahead | None) -> tuple[Array, int]:
    """(G times the next block, further passes): the block begins with `following`, and some may be under way."""
    if ahead is None or following is not ahead.following:
        return matrix.apply(block), 1
    if block is ahead.block:
        return ahead.product.take(), 0
    width = following.shape[1]
    product = ahead.product.take()[:, :width]
    if block.shape[1] == width:
        return product, 0
    return namespace(product).concat([product, matrix.apply(block[:, width:])], axis=1), 1
