"""Coordinate descent on the quadratic programs of many rows on a GPU: one thread per row."""

from __future__ import annotations

import numpy as np

from eckart.arrays import Array
from eckart.nmf.cuda.kernels import kernel, real_name

_THREADS = 128


def descend(triangles: object, rest: object, begin: Array, inverse: object, step: object, sweeps: int) -> None:
    """The compiled loop of the same name; all arrays are C-ordered CuPy arrays of one dtype."""
    k, rows = begin.shape
    launch = kernel(("quadratic",), f"descend<{real_name(begin.dtype.itemsize)}>")
    arguments = (triangles, rest, begin, inverse, step, np.int32(k), np.int64(rows), np.int32(sweeps))
    launch((-(-rows // _THREADS),), (_THREADS,), arguments)
