"""Random blocks on a GPU in one launch: SplitMix64 of the index of an entry, as signs or as normal numbers.

The same bits as `orthogonal.random_bits`, which needs two dozen operations of an array library.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import Array, empty_rows
from eckart.engine.backends.cuda.arrays import can_compile, on_device_of, pointer
from eckart.engine.backends.cuda.source import source
from eckart.errors import require

if TYPE_CHECKING:
    import cupy as cp


def usable(prototype: Array) -> bool:
    return can_compile(prototype)


def signs(rows: int, columns: int, seed: int, prototype: Array) -> Array:
    """Random signs in float64 on the device of `prototype`."""
    return _filled("signs", rows, columns, seed, prototype, rows * columns)


def normals(rows: int, columns: int, seed: int, prototype: Array) -> Array:
    """Standard normal numbers in float64 on the device of `prototype`."""
    half = -(-rows // 2) * columns
    return _filled("normals", rows, columns, seed, prototype, half, np.int64(half))


def _filled(name: str, rows: int, columns: int, seed: int, prototype: Array, threads: int, *more: object) -> Array:
    result = empty_rows(rows, columns, prototype)
    with on_device_of(prototype):
        arguments = (pointer(result), np.int64(rows * columns), np.uint64(seed), *more)
        _module().get_function(name)((-(-threads // 256),), (256,), arguments)
    return result


@lru_cache(maxsize=1)
def _module() -> cp.RawModule:
    return require("cupy", purpose="Eckart's CUDA kernels").RawModule(code=source("random"), options=("-std=c++17",))
