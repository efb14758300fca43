"""The next product, started before the host has checked the block it depends on.

If the host only queues work, waiting for T and R leaves the device idle. As soon as the next block is formed, its
product is therefore queued, and the host waits and checks convergence meanwhile. A product costs the same up to a
multiple of `Matrix.tile` columns. Until probes join, they are drawn in advance and multiplied in the spare columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eckart.arrays import Array, namespace
from eckart.engine.backends.base import Draft, Speculation
from eckart.engine.lanczos.terms import PROBES, Matrix

_ROUNDING_ONLY = 1e-3
"""A unit column of rounding errors has at most this length outside the basis."""


@dataclass(frozen=True)
class Ahead:
    """A block, not yet checked, and G times it."""

    following: Array
    """The next block."""
    block: Array
    """The same, with the probes if they cost nothing."""
    product: Speculation[Array]
    """G times `block`."""
    probes: Draft | None = None
    coordinates: Callable[[], np.ndarray] | None = None
    """Q^T Omega for the probes Omega and the orthonormal Q formed from them."""

    def probes_for(self, following: Array) -> Callable[[], np.ndarray] | None:
        """Coordinates of the probes in `block`, if it begins with `following` and they are orthonormal."""
        if self.probes is None or following is not self.following:
            return None
        return self.coordinates if self.probes.good(0.0, _ROUNDING_ONLY) else None


def look_ahead(
    matrix: Matrix, vectors: Array, following: Array, rng: Callable[[], np.random.Generator] | None
) -> Ahead:
    """Start G times `following`, with probes drawn from `rng` if given and if there is room."""
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
    """(G times the next block, further passes).

    The block begins with `following`, whose product may be queued already.
    """
    if ahead is None or following is not ahead.following:
        return matrix.apply(block), 1
    if block is ahead.block:
        return ahead.product.take(), 0
    width = following.shape[1]
    product = ahead.product.take()[:, :width]
    if block.shape[1] == width:
        return product, 0
    return namespace(product).concat([product, matrix.apply(block[:, width:])], axis=1), 1
