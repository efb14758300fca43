"""Random blocks on a GPU in one launch: SplitMix64 of the number of an entry, as signs or as normal numbers.

The same bits as `orthogonal.random_bits` makes by two dozen operations of an array library.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from eckart.arrays import Array, empty_rows
from eckart.engine.backends.cuda.arrays import can_compile, on_device_of, pointer
from eckart.errors import require

_SOURCE = r"""
__device__ __forceinline__ unsigned long long bits_of(unsigned long long count, unsigned long long seed) {
  unsigned long long bits = count * 0x9E3779B97F4A7C15ull + seed;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ull;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBull;
  return bits ^ (bits >> 31);
}

extern "C" __global__ void signs(double* result, long long size, unsigned long long seed) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) result[i] = bits_of(i, seed) >> 33 & 1 ? -1.0 : 1.0;
}

// Two and two: sqrt(-2 log u) cos(2 pi v) in the upper half of the rows, the sine in the lower one
extern "C" __global__ void normals(double* result, long long size, unsigned long long seed, long long half) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= half) return;
  unsigned long long bits = bits_of(i, seed);
  double low = ((double)(bits & 0xffffffffull) + 0.5) / 4294967296.0;
  double high = ((double)(bits >> 32) + 0.5) / 4294967296.0, sine, cosine;
  double length = sqrt(-2.0 * log(low));
  sincospi(2.0 * high, &sine, &cosine);
  result[i] = length * cosine;
  if (half + i < size) result[half + i] = length * sine;
}
"""


def usable(like: Array) -> bool:
    return can_compile(like)


def signs(rows: int, columns: int, seed: int, like: Array) -> Array:
    """Random signs in float64 beside `like`."""
    return _filled("signs", rows, columns, seed, like, rows * columns)


def normals(rows: int, columns: int, seed: int, like: Array) -> Array:
    """Standard normal numbers in float64 beside `like`."""
    half = -(-rows // 2) * columns
    return _filled("normals", rows, columns, seed, like, half, np.int64(half))


def _filled(name: str, rows: int, columns: int, seed: int, like: Array, threads: int, *more: Any) -> Array:
    result = empty_rows(rows, columns, like)
    with on_device_of(like):
        arguments = (pointer(result), np.int64(rows * columns), np.uint64(seed), *more)
        _module().get_function(name)((-(-threads // 256),), (256,), arguments)
    return result


@lru_cache(maxsize=1)
def _module() -> Any:
    return require("cupy", purpose="our kernels on a GPU").RawModule(code=_SOURCE, options=("-std=c++17",))
