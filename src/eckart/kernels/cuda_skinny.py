"""Products of a large float32 matrix with few columns on a GPU, at the speed of reading it: S Q and S^T Y.

Libraries form such products in float32 on the ordinary units, which are slower than the memory. Here each float is the
sum of two that the matrix units take (TF32, 11 bits each), a = a' + a'', and a b = a'' b' + a' b'' + a' b' up to
2^-22 |a b|: a product in float32, by three of those units'. They cut sums off instead of rounding them, so a sum over
8 of the long index starts from zero and is added to the total by an ordinary, rounded addition. Totals over at most
`PIECE` of the long index are added up in float64 outside.

S is stored by rows and a multiple of four columns wide. `shift` is subtracted from its rows on the way. S^T Y can give
column sums and sums of squares of S - 1 shift^T in float64 as well, as it holds each entry once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from eckart.errors import require

WIDEST = 64
PIECE = 4096
_TILE = 256
_THREADS = 256
_SHARED = {"multiply": 2 * 4 * (256 * 36 + 32 * 72), "multiply_transposed": 2 * 4 * (32 * 264 + 32 * 72)}

_SOURCE = r"""
constexpr int TILE = 256, DEPTH = 32, FACTOR = 72;  // rows of a factor are padded so that no two lanes share a bank

__device__ __forceinline__ void fetch(float* place, const float* from, bool inside) {
  unsigned address = (unsigned)__cvta_generic_to_shared(place);
  int size = inside ? 16 : 0;  // the rest is filled with zeros
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(address), "l"(from), "r"(size));
}

__device__ __forceinline__ void split(float x, unsigned& high, unsigned& low) {
  high = (__float_as_uint(x) + 0x1000u) & 0xffffe000u;  // to the nearest 11 bits
  low = __float_as_uint(x - __uint_as_float(high));
}

__device__ __forceinline__ void mma(float* c, const unsigned* a, const unsigned* b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// acc += A B for two tiles of 16 rows, 8 deep, and N tiles of 8 columns
template <int N>
__device__ __forceinline__ void step(float (&acc)[2][N][4], const float (&a)[2][4], const float* factor, int g, int t) {
  unsigned high[2][4], low[2][4];
  #pragma unroll
  for (int m = 0; m < 2; m++)
    #pragma unroll
    for (int i = 0; i < 4; i++) split(a[m][i], high[m][i], low[m][i]);
  #pragma unroll
  for (int n = 0; n < N; n++) {
    unsigned above[2], below[2];
    split(factor[t * FACTOR + 8 * n + g], above[0], below[0]);
    split(factor[(t + 4) * FACTOR + 8 * n + g], above[1], below[1]);
    #pragma unroll
    for (int m = 0; m < 2; m++) {
      float part[4] = {0.f, 0.f, 0.f, 0.f};
      mma(part, low[m], above);
      mma(part, high[m], below);
      mma(part, high[m], above);
      #pragma unroll
      for (int i = 0; i < 4; i++) acc[m][n][i] += part[i];
    }
  }
}

// rows k .. k + 31 of a factor of 8 N columns, without gaps between them
template <int N>
__device__ __forceinline__ void fetch_factor(float* place, const float* factor, int k, int stop) {
  #pragma unroll
  for (int i = threadIdx.x; i < DEPTH * 2 * N; i += 256) {
    int row = i / (2 * N), column = 4 * (i % (2 * N));
    fetch(place + row * FACTOR + column, factor + (k + row) * 8 * N + column, k + row < stop);
  }
}

template <int N>
__device__ __forceinline__ void store(float* result, float (&acc)[2][N][4], long long first, long long rows,
                                      int g, int t) {
  #pragma unroll
  for (int m = 0; m < 2; m++)
    #pragma unroll
    for (int half = 0; half < 2; half++) {
      long long row = first + 16 * m + 8 * half + g;
      if (row < rows)
        #pragma unroll
        for (int n = 0; n < N; n++)
          *reinterpret_cast<float2*>(result + row * 8 * N + 8 * n + 2 * t) =
              make_float2(acc[m][n][2 * half], acc[m][n][2 * half + 1]);
    }
}

// result[piece] = (S - 1 shift^T)[:, piece] Q[piece, :]
template <int N>
__global__ void __launch_bounds__(256, 2) multiply(const float* stored, const float* shift, const float* factor,
    float* result, long long rows, long long columns, long long stride, int piece) {
  extern __shared__ float4 memory[];
  float* buffer = reinterpret_cast<float*>(memory);
  constexpr int ROW = DEPTH + 4, SIZE = TILE * ROW + DEPTH * FACTOR;
  long long first = (long long)blockIdx.x * TILE, start = (long long)blockIdx.y * piece;
  long long stop = min(start + piece, columns);
  int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const float* source = stored + (first + threadIdx.x / 8) * stride + start + 4 * (threadIdx.x % 8);
  int left_rows = (int)min(rows - first, (long long)TILE) - threadIdx.x / 8, left_columns = (int)(stop - start);
  auto load = [&](int stage, int k) {
    float* place = buffer + stage * SIZE + threadIdx.x / 8 * ROW + 4 * (threadIdx.x % 8);
    bool inside = k + 4 * (int)(threadIdx.x % 8) < left_columns;
    #pragma unroll
    for (int j = 0; j < TILE; j += 32)
      fetch(place + j * ROW, source + j * stride + k, inside && j < left_rows);
    fetch_factor<N>(buffer + stage * SIZE + TILE * ROW, factor + start * 8 * N, k, left_columns);
    asm volatile("cp.async.commit_group;");
  };
  float acc[2][N][4] = {};
  int count = (int)((stop - start + DEPTH - 1) / DEPTH);
  load(0, 0);
  for (int index = 0; index < count; index++) {
    int k = index * DEPTH;
    if (index + 1 < count) {
      load((index + 1) & 1, k + DEPTH);
      asm volatile("cp.async.wait_group 1;");
    } else {
      asm volatile("cp.async.wait_group 0;");
    }
    __syncthreads();
    const float* block = buffer + (index & 1) * SIZE;
    const float* mine = block + 32 * warp * ROW;
    #pragma unroll 1
    for (int depth = 0; depth < DEPTH; depth += 8) {
      float left = 0.f, right = 0.f;
      if (shift) {
        int column = k + depth + t;
        left = column < left_columns ? shift[start + column] : 0.f;
        right = column + 4 < left_columns ? shift[start + column + 4] : 0.f;
      }
      float a[2][4];
      #pragma unroll
      for (int m = 0; m < 2; m++) {
        const float* rows_of = mine + (16 * m + g) * ROW + depth + t;
        a[m][0] = rows_of[0] - left;
        a[m][1] = rows_of[8 * ROW] - left;
        a[m][2] = rows_of[4] - right;
        a[m][3] = rows_of[8 * ROW + 4] - right;
      }
      step<N>(acc, a, block + TILE * ROW + depth * FACTOR, g, t);
    }
    __syncthreads();
  }
  store<N>(result + (long long)blockIdx.y * rows * 8 * N, acc, first + 32 * warp, rows, g, t);
}

// result[piece] = (S - 1 shift^T)[piece, :]^T Y[piece, :], and the sums of its columns and of their squares
template <int N, bool SUMS>
__global__ void __launch_bounds__(256, 2) multiply_transposed(const float* stored, const float* shift,
    const float* factor, float* result, double* sums, long long rows, long long columns, long long stride, int piece) {
  extern __shared__ float4 memory[];
  float* buffer = reinterpret_cast<float*>(memory);
  constexpr int ROW = TILE + 8, SIZE = DEPTH * ROW + DEPTH * FACTOR;
  long long first = (long long)blockIdx.x * TILE, start = (long long)blockIdx.y * piece;
  long long stop = min(start + piece, rows);
  int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const float* source = stored + (start + threadIdx.x / 64) * stride + first + 4 * (threadIdx.x % 64);
  int left_rows = (int)(stop - start);
  bool inside = first + 4 * (threadIdx.x % 64) < columns;
  auto load = [&](int stage, int k) {
    float* place = buffer + stage * SIZE + threadIdx.x / 64 * ROW + 4 * (threadIdx.x % 64);
    int row = k + threadIdx.x / 64;
    #pragma unroll
    for (int j = 0; j < DEPTH; j += 4)
      fetch(place + j * ROW, source + (long long)(k + j) * stride, inside && row + j < left_rows);
    fetch_factor<N>(buffer + stage * SIZE + DEPTH * ROW, factor + start * 8 * N, k, left_rows);
    asm volatile("cp.async.commit_group;");
  };
  float offset[2][2] = {};
  if (shift)
    for (int m = 0; m < 2; m++)
      for (int half = 0; half < 2; half++) {
        long long column = first + 32 * warp + 16 * m + 8 * half + g;
        offset[m][half] = column < columns ? shift[column] : 0.f;
      }
  float acc[2][N][4] = {};
  double totals[2][2][2] = {};
  int count = (int)((stop - start + DEPTH - 1) / DEPTH);
  load(0, 0);
  for (int index = 0; index < count; index++) {
    int k = index * DEPTH;
    if (index + 1 < count) {
      load((index + 1) & 1, k + DEPTH);
      asm volatile("cp.async.wait_group 1;");
    } else {
      asm volatile("cp.async.wait_group 0;");
    }
    __syncthreads();
    const float* block = buffer + (index & 1) * SIZE;
    #pragma unroll 1
    for (int depth = 0; depth < DEPTH; depth += 8) {
      float a[2][4];
      #pragma unroll
      for (int m = 0; m < 2; m++)
        #pragma unroll
        for (int i = 0; i < 4; i++) {
          int row = depth + t + 4 * (i / 2);
          float x = block[row * ROW + 32 * warp + 16 * m + 8 * (i % 2) + g] - offset[m][i % 2];
          a[m][i] = x;
          if (SUMS && k + row < left_rows) {
            totals[m][i % 2][0] += x;
            totals[m][i % 2][1] += (double)x * x;
          }
        }
      step<N>(acc, a, block + DEPTH * ROW + depth * FACTOR, g, t);
    }
    __syncthreads();
  }
  store<N>(result + (long long)blockIdx.y * columns * 8 * N, acc, first + 32 * warp, columns, g, t);
  for (int m = 0; SUMS && m < 2; m++)
    for (int half = 0; half < 2; half++)
      for (int which = 0; which < 2; which++) {
        double total = totals[m][half][which];
        total += __shfl_xor_sync(0xffffffffu, total, 1);
        total += __shfl_xor_sync(0xffffffffu, total, 2);
        long long column = first + 32 * warp + 16 * m + 8 * half + g;
        if (t == 0 && column < columns) sums[((long long)blockIdx.y * 2 + which) * columns + column] = total;
      }
}

// total = the pieces added up in float64
template <typename T>
__global__ void add_pieces(const float* pieces, T* total, long long size, int count) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  double sum = 0.0;
  for (int piece = 0; piece < count; piece++) sum += pieces[piece * size + i];
  total[i] = (T)sum;
}
"""


@lru_cache(maxsize=16)
def _module(tiles: int) -> Any:
    cupy = require("cupy", purpose="products on a GPU")
    names = [
        f"multiply<{tiles}>",
        f"multiply_transposed<{tiles}, false>",
        f"multiply_transposed<{tiles}, true>",
        "add_pieces<float>",
        "add_pieces<double>",
    ]
    return cupy.RawModule(code=_SOURCE, options=("-std=c++17",), name_expressions=names)


def multiply(stored: Any, shift: Any, factor: Any) -> Any:
    """(S - 1 shift^T) Q in float32; all arrays are CuPy's, Q without gaps and a multiple of eight wide."""
    rows, columns = stored.shape
    pieces = _pieces(stored, factor, columns, rows)
    _launch("multiply", "", stored, shift, factor, (pieces,))
    return _added(pieces, "float32")


def multiply_transposed(stored: Any, shift: Any, factor: Any, *, sums: bool = False) -> tuple[Any, Any]:
    """(S - 1 shift^T)^T Y in float64, and with `sums` the sums and sums of squares of the columns (2 x columns)."""
    import cupy

    rows, columns = stored.shape
    pieces = _pieces(stored, factor, rows, columns)
    found = cupy.empty((len(pieces), 2, columns)) if sums else None
    _launch("multiply_transposed", ", true" if sums else ", false", stored, shift, factor, (pieces, found))
    return _added(pieces, "float64"), None if found is None else found.sum(axis=0)


def _pieces(stored: Any, factor: Any, length: int, rows: int) -> Any:
    """Room for the product over each piece of the long index."""
    import cupy

    return cupy.empty((-(-length // PIECE), rows, factor.shape[1]), cupy.float32)


def _launch(name: str, variant: str, stored: Any, shift: Any, factor: Any, results: tuple[Any, ...]) -> None:
    import numpy as np

    tiles = factor.shape[1] // 8
    kernel = _module(tiles).get_function(f"{name}<{tiles}{variant}>")
    kernel.max_dynamic_shared_size_bytes = _SHARED[name]
    rows, columns = stored.shape
    count, length = results[0].shape[:2]
    places = [np.uint64(0) if array is None else array for array in (stored, shift, factor, *results)]
    sizes = (np.int64(rows), np.int64(columns), np.int64(stored.strides[0] // 4), np.int32(PIECE))
    kernel((-(-length // _TILE), count), (_THREADS,), (*places, *sizes), shared_mem=_SHARED[name])


def _added(pieces: Any, dtype: str) -> Any:
    """The pieces added up in float64, in `dtype`."""
    import cupy
    import numpy as np

    if len(pieces) == 1:
        return pieces[0].astype(dtype, copy=False)
    total = cupy.empty(pieces.shape[1:], dtype)
    kernel = _module(pieces.shape[2] // 8).get_function(f"add_pieces<{'float' if dtype == 'float32' else 'double'}>")
    kernel((-(-total.size // 256),), (256,), (pieces, total, np.int64(total.size), np.int32(len(pieces))))
    return total
