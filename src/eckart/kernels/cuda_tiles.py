"""What is done to every entry of a kernel's tiles on a GPU, in one pass each, compiled by CuPy when it first runs.

Products of tiles are as fast as cuBLAS; beside them every further pass over the entries counts, and array libraries
make one for each operation.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np

from eckart.array_api import Array, is_host
from eckart.errors import require

_THREADS = 256
_MOST_BLOCKS = 2**16

_SOURCE = r"""
// x = exp(min(x, 0)), or that less 1; 16 bytes at a time, so that enough of them are on their way
template <typename T> struct alignas(16) Pack { T at[16 / sizeof(T)]; };

template <typename T>
__device__ __forceinline__ T exponential(T a, int lowered) {
  a = a > T(0) ? T(0) : a;  // what is not a number stays so
  return lowered ? expm1(a) : exp(a);
}

template <typename T>
__global__ void exponentials(T* x, long long size, int lowered) {
  const int width = 16 / sizeof(T);
  long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x, step = (long long)gridDim.x * blockDim.x;
  long long packs = size / width;
  Pack<T>* packed = reinterpret_cast<Pack<T>*>(x);
  for (long long i = first; i < packs; i += step) {
    Pack<T> p = packed[i];
    #pragma unroll
    for (int k = 0; k < width; ++k) p.at[k] = exponential(p.at[k], lowered);
    packed[i] = p;
  }
  long long rest = packs * width + first;
  if (rest < size) x[rest] = exponential(x[rest], lowered);
}

// left[j] -= sum over i of rows[i, j]^2, summed in float64; rows are `stride` entries apart
template <typename T>
__global__ void subtract_squares(const T* rows, double* left, int count, long long size, long long stride) {
  long long j = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= size) return;
  double s = 0.0;
  #pragma unroll 8
  for (int i = 0; i < count; ++i) {
    double a = rows[i * stride + j];
    s += a * a;
  }
  left[j] -= s;
}
"""


@lru_cache(maxsize=1)
def _installed() -> bool:
    return importlib.util.find_spec("cupy") is not None


def usable(array: Array) -> bool:
    """Whether the array is on a GPU, each of its rows in one piece, and CuPy is there to compile."""
    if is_host(array) or not _installed():
        return False
    return bool(array.stride()[-1] == 1 if _is_torch(array) else array.strides[-1] == array.itemsize)


def exponentials(argument: Array, *, lowered: bool) -> None:
    """argument <- exp(min(argument, 0)), less 1 if lowered."""
    with _seen(argument) as (x,):
        assert x.flags.c_contiguous
        assert x.data.ptr % 16 == 0
        blocks = max(1, min(_MOST_BLOCKS, x.size * x.itemsize // (16 * _THREADS)))
        _kernel("exponentials", x)((blocks,), (_THREADS,), (x, np.int64(x.size), np.int32(lowered)))


def subtract_squares(left: Array, rows: Array) -> None:
    """left <- left - the squared lengths of the columns of `rows`."""
    with _seen(rows, left) as (x, target):
        count, size = x.shape
        stride = x.strides[0] // x.itemsize
        arguments = (x, target, np.int32(count), np.int64(size), np.int64(stride))
        _kernel("subtract_squares", x)((-(-size // _THREADS),), (_THREADS,), arguments)


@contextmanager
def _seen(*arrays: Array) -> Iterator[tuple[Any, ...]]:
    """The arrays as CuPy's, without a copy, on their device and on the stream that their library works on."""
    cupy = require("cupy", purpose="kernel tiles on a GPU")
    if not _is_torch(arrays[0]):
        with arrays[0].device:
            yield arrays
        return
    stream = sys.modules["torch"].cuda.current_stream(arrays[0].device).cuda_stream
    with cupy.cuda.Device(arrays[0].device.index), cupy.cuda.ExternalStream(stream):
        yield tuple(cupy.asarray(array) for array in arrays)


@lru_cache(maxsize=1)
def _module() -> Any:
    cupy = require("cupy", purpose="kernel tiles on a GPU")
    names = [f"{kernel}<{real}>" for kernel in ("exponentials", "subtract_squares") for real in ("float", "double")]
    return cupy.RawModule(code=_SOURCE, options=("-std=c++17",), name_expressions=names)


def _kernel(name: str, array: Any) -> Any:
    return _module().get_function(f"{name}<{'float' if array.dtype.itemsize == 4 else 'double'}>")


def _is_torch(array: Array) -> bool:
    return type(array).__module__.partition(".")[0] == "torch"
