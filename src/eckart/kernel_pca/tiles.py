"""Operations on every entry of a kernel tile on a GPU, in one pass each, compiled by CuPy on first use.

Products of tiles are as fast as cuBLAS; compared with them every further pass over the entries counts, and array
libraries make one for each operation. A tile of the rbf kernel is one pass from the rows to what is written: exp(-|x
- y|^2 / 2) from the differences themselves, which keep the digits that |x|^2 - 2 x.y + |y|^2 loses.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np

from eckart.arrays import Array
from eckart.engine.backends.cuda.arrays import can_compile, on_device_of, seen_by_cupy
from eckart.errors import require

_THREADS = 256
_MOST_BLOCKS = 2**16
_WIDE, _HIGH = 128, {4: 128, 8: 64}
"""Columns of an rbf block of threads, and its rows for numbers of 4 and of 8 bytes."""
MOST_COLUMNS = 64
"""Up to this many columns, differences cost less than a product followed by exponentials."""

_SOURCE = r"""
// x = exp(min(x, 0)), or exp(min(x, 0)) - 1. Threads load 16 bytes at a time to keep enough loads in flight.
template <typename T> struct alignas(16) Pack { T at[16 / sizeof(T)]; };

template <typename T>
__device__ __forceinline__ T exponential(T a, int lowered) {
  a = a > T(0) ? T(0) : a;  // NaN is kept
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

// out[i, j] = exp(-|x_i - y_j|^2 / 2), or this value minus 1, for rows of `size` entries with the given strides.
// 16 x 16 threads share 16 columns of their rows at a time; each has ROWS x 8 sums in registers.
template <typename T, int ROWS, int LOWERED>
__global__ void __launch_bounds__(256, 2) rbf(
    const T* x, const T* y, T* out, long long rows, long long columns, int size,
    long long x_stride, long long y_stride, long long out_stride, int packed) {
  const int DEPTH = 16, HIGH = 16 * ROWS, WIDE = 128, PACK = 16 / sizeof(T), PACKS = 8 / PACK;
  __shared__ alignas(16) T a[DEPTH][HIGH + 4], b[DEPTH][WIDE + 4];
  long long across = (columns + WIDE - 1) / WIDE;
  long long top = blockIdx.x / across * HIGH, start = blockIdx.x % across * WIDE;
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  bool busy = top + ty * ROWS < rows;
  T s[ROWS][8];
  #pragma unroll
  for (int i = 0; i < ROWS; ++i)
    #pragma unroll
    for (int j = 0; j < 8; ++j) s[i][j] = T(0);
  for (int k0 = 0; k0 < size; k0 += DEPTH) {
    if (k0) __syncthreads();
    #pragma unroll
    for (int i = ty; i < HIGH; i += 16)
      a[tx][i] = top + i < rows && k0 + tx < size ? x[(top + i) * x_stride + k0 + tx] : T(0);
    #pragma unroll
    for (int j = ty; j < WIDE; j += 16)
      b[tx][j] = start + j < columns && k0 + tx < size ? y[(start + j) * y_stride + k0 + tx] : T(0);
    __syncthreads();
    if (!busy) continue;
    int depth = min(DEPTH, size - k0);
    #pragma unroll 2
    for (int k = 0; k < depth; ++k) {
      alignas(16) T p[ROWS], q[8];
      #pragma unroll
      for (int i = 0; i < ROWS; i += PACK)
        *reinterpret_cast<Pack<T>*>(p + i) = *reinterpret_cast<const Pack<T>*>(&a[k][ty * ROWS + i]);
      #pragma unroll
      for (int g = 0; g < PACKS; ++g)
        *reinterpret_cast<Pack<T>*>(q + g * PACK) = *reinterpret_cast<const Pack<T>*>(&b[k][(16 * g + tx) * PACK]);
      #pragma unroll
      for (int i = 0; i < ROWS; ++i)
        #pragma unroll
        for (int j = 0; j < 8; ++j) {
          T d = p[i] - q[j];
          s[i][j] += d * d;
        }
    }
  }
  if (!busy) return;
  #pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    long long row = top + ty * ROWS + i;
    if (row >= rows) break;
    #pragma unroll
    for (int g = 0; g < PACKS; ++g) {
      long long column = start + (16 * g + tx) * PACK;
      Pack<T> r;
      #pragma unroll
      for (int e = 0; e < PACK; ++e) r.at[e] = exponential(T(-0.5) * s[i][g * PACK + e], LOWERED);
      T* place = out + row * out_stride + column;
      if (packed && column + PACK <= columns) {
        *reinterpret_cast<Pack<T>*>(place) = r;
      } else {
        #pragma unroll
        for (int e = 0; e < PACK; ++e)
          if (column + e < columns) place[e] = r.at[e];
      }
    }
  }
}

// left[j] -= sum over i of rows[i, j]^2, summed in float64; rows are `stride` entries apart.
// Each thread has WIDTH columns: 16 bytes if rows are aligned, because wider loads use more of the bandwidth; else 1.
template <typename T, int WIDTH>
__global__ void subtract_squares(const T* rows, double* left, int count, long long size, long long stride) {
  struct alignas(WIDTH * sizeof(T)) Few { T at[WIDTH]; };
  long long j = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * WIDTH;
  if (j >= size) return;
  bool whole = j + WIDTH <= size;
  int width = whole ? WIDTH : int(size - j);
  double s[WIDTH] = {};
  if (whole) {
    #pragma unroll 8
    for (int i = 0; i < count; ++i) {
      Few a = *reinterpret_cast<const Few*>(rows + i * stride + j);
      #pragma unroll
      for (int k = 0; k < WIDTH; ++k) s[k] += double(a.at[k]) * double(a.at[k]);
    }
  } else {
    for (int i = 0; i < count; ++i)
      #pragma unroll
      for (int k = 0; k < WIDTH; ++k)
        if (k < width) s[k] += double(rows[i * stride + j + k]) * double(rows[i * stride + j + k]);
  }
  #pragma unroll
  for (int k = 0; k < WIDTH; ++k)
    if (k < width) left[j + k] -= s[k];
}
"""


def usable(array: Array) -> bool:
    """Whether the array is on a supported GPU and its rows are contiguous."""
    if not can_compile(array):
        return False
    return bool(array.stride()[-1] == 1 if _is_torch(array) else array.strides[-1] == array.itemsize)


def exponentials(argument: Array, *, lowered: bool) -> None:
    """argument <- exp(min(argument, 0)), minus 1 if lowered."""
    with _seen(argument) as (x,):
        assert x.flags.c_contiguous
        assert x.data.ptr % 16 == 0
        blocks = max(1, min(_MOST_BLOCKS, x.size * x.itemsize // (16 * _THREADS)))
        _kernel("exponentials", x)((blocks,), (_THREADS,), (x, np.int64(x.size), np.int32(lowered)))


def row_major(array: Array) -> Array:
    """The array with contiguous rows."""
    if _is_torch(array):
        return array.contiguous()
    return require("cupy", purpose="kernel tiles on a GPU").ascontiguousarray(array)


def rbf(first: Array, second: Array, out: Array, *, lowered: bool) -> None:
    """out <- exp(-|x - y|^2 / 2) for all rows x of the first and y of the second, minus 1 if lowered; one dtype."""
    if not out.shape[0] or not out.shape[1]:
        return
    with _seen(first, second, out) as (x, y, target):
        item = target.itemsize
        assert x.dtype == y.dtype == target.dtype
        assert all(array.strides[1] == item or array.shape[1] == 1 for array in (x, y, target))
        strides = [array.strides[0] // item for array in (x, y, target)]
        packed = target.data.ptr % 16 == 0 and target.strides[0] % 16 == 0
        rows, columns = target.shape
        blocks = -(-rows // _HIGH[item]) * -(-columns // _WIDE)
        sizes = (np.int64(rows), np.int64(columns), np.int32(x.shape[1]))
        steps = tuple(np.int64(stride) for stride in strides)
        kernel = _kernel("rbf lowered" if lowered else "rbf", x)
        kernel((blocks,), (256,), (x, y, target, *sizes, *steps, np.int32(packed)))


def subtract_squares(left: Array, rows: Array) -> None:
    """left <- left - the squared lengths of the columns of `rows`."""
    with _seen(rows, left) as (x, target):
        count, size = x.shape
        stride = x.strides[0] // x.itemsize
        packed = x.data.ptr % 16 == 0 and x.strides[0] % 16 == 0
        blocks = -(-size // (_THREADS * (16 // x.itemsize if packed else 1)))
        arguments = (x, target, np.int32(count), np.int64(size), np.int64(stride))
        _kernel("subtract_squares packed" if packed else "subtract_squares", x)((blocks,), (_THREADS,), arguments)


@contextmanager
def _seen(*arrays: Array) -> Iterator[tuple[Array, ...]]:
    """The arrays as CuPy views, on their device and on the stream of their library."""
    with on_device_of(arrays[0]):
        yield tuple(seen_by_cupy(array) for array in arrays)


@lru_cache(maxsize=1)
def _module() -> Any:
    cupy = require("cupy", purpose="kernel tiles on a GPU")
    return cupy.RawModule(code=_SOURCE, options=("-std=c++17",), name_expressions=names())


def names() -> list[str]:
    """The names of the kernels in C++."""
    kernels = ("exponentials", "rbf", "rbf lowered", "subtract_squares", "subtract_squares packed")
    return [_name(kernel, item) for kernel in kernels for item in (4, 8)]


def _name(kernel: str, item: int) -> str:
    name, _, kind = kernel.partition(" ")
    real = "float" if item == 4 else "double"
    if name == "rbf":
        return f"rbf<{real}, {_HIGH[item] // 16}, {int(kind == 'lowered')}>"
    if name == "subtract_squares":
        return f"subtract_squares<{real}, {16 // item if kind == 'packed' else 1}>"
    return f"{name}<{real}>"


def _kernel(name: str, array: Array) -> Any:
    return _module().get_function(_name(name, array.dtype.itemsize))


def _is_torch(array: Array) -> bool:
    return type(array).__module__.partition(".")[0] == "torch"
