"""Sums of the first pass on the host, and the vector of ones with which they are formed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from eckart.arrays import Array, namespace
from eckart.engine.backends.select import backend_of
from eckart.engine.operator import MomentsAndProduct


def later(moments_and_product: MomentsAndProduct) -> Callable[[], MomentsAndProduct]:
    """The moments with their sums on the host, when requested."""
    backend = backend_of(moments_and_product.sums)
    both = backend.fetch_async(
        namespace(moments_and_product.sums).stack([moments_and_product.sums, moments_and_product.squares])
    )
    longest = None if moments_and_product.longest is None else backend.fetch_async(moments_and_product.longest)

    def arrived() -> MomentsAndProduct:
        sums, squares = both()
        return replace(moments_and_product, sums=sums, squares=squares, longest=None if longest is None else longest())

    return arrived


def ones(count: int, prototype: Array, *, whole: bool = True) -> Array:
    """A vector of ones; unless `whole`, one number broadcast to `count` entries."""
    xp = namespace(prototype)
    if not whole:
        return np.broadcast_to(np.ones(1), (count,))
    return np.ones(count) if xp is np else xp.ones(count, dtype=xp.float64, device=prototype.device)
