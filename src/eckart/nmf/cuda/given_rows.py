"""Least squares with non-negative coefficients on a GPU: the mathematics of `eckart.nmf.compiled`, in double precision.

Groups of rows are the same as on the processor, because a group determines when it has converged. Sums over rows are in
a fixed order.
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import Any

import numpy as np

from eckart.arrays import Array
from eckart.nmf.cuda.kernels import cupy, kernel, real_name

_GROUP = 64
_PIECES = 8
_WARPS = 16


def given_rows(
    products: Array, begin: Array, old: object, gram: object, inverse: object, *, lasso: float, sweeps: int,
    share: float, extrapolation: object,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """(new, ahead, [objective, projected gradients met]) for given products A other (rows x k), as CuPy arrays."""
    rows, k = begin.shape
    with begin.device:
        new, ahead = cupy().empty_like(begin), cupy().empty_like(begin)
        found = cupy().empty((2, rows))
        edges = _groups(rows, int(begin.device.id))
        launch = _kernel(begin.dtype.itemsize, products.dtype.itemsize, 1 << max(0, (k - 1) // 32).bit_length())
        launch(
            (edges.shape[0],), (32 * _WARPS,),
            (
                edges, products, begin, old, gram, inverse, np.int32(k), np.float64(lasso), np.int32(sweeps),
                np.float64(share), extrapolation, new, ahead, found[0], found[1],
            ),
        )  # fmt: skip
        return new, ahead, found.sum(axis=1)


def groups(rows: int) -> np.ndarray:
    """(first row, end) of the groups of 64 that the processor uses for the same rows."""
    edges = np.unique(np.linspace(0, rows, min(_PIECES, rows) + 1).astype(int)).tolist()
    parts = []
    for start, stop in itertools.pairwise(edges):
        firsts = np.arange(start, stop, _GROUP)
        parts.append(np.stack([firsts, np.minimum(firsts + _GROUP, stop)], axis=1))
    return np.concatenate(parts).astype(np.int32)


@lru_cache(maxsize=8)
def _groups(rows: int, device: int) -> Any:
    return cupy().asarray(groups(rows))


def _kernel(itemsize: int, products: int, places: int) -> Any:
    return kernel(("given",), f"given_rows<{real_name(itemsize)}, {real_name(products)}, {places}, {_WARPS}>")
