"""Products with CSR rows on a GPU that read each stored entry once, compiled by CuPy when they first run.

Written in CUDA C++ for CuPy's RawModule, which needs no compiler on the machine, takes PyTorch's tensors without a
copy, and lets a sum be scattered four numbers at a time (red.global.add.v4, Hopper and later).
A row belongs to `width / 4` threads; thread t holds columns 4 t .. 4 t + 3 of the dense factor, so threads need not
wait for each other, and the row's indices are read by all of them at once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from eckart.errors import require

_THREADS = 256

_SOURCE = r"""
template <typename T> struct Four { T x, y, z, w; };

template <typename T> __device__ __forceinline__ Four<T> load(const T* p);
template <> __device__ __forceinline__ Four<float> load(const float* p) {
  float4 v = __ldg(reinterpret_cast<const float4*>(p));
  return {v.x, v.y, v.z, v.w};
}
template <> __device__ __forceinline__ Four<double> load(const double* p) {
  double2 a = __ldg(reinterpret_cast<const double2*>(p)), b = __ldg(reinterpret_cast<const double2*>(p) + 1);
  return {a.x, a.y, b.x, b.y};
}

__device__ __forceinline__ void scatter(float* p, float a, float b, float c, float d) {
#if __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" :: "l"(p), "f"(a), "f"(b), "f"(c), "f"(d) : "memory");
#else
  atomicAdd(p, a); atomicAdd(p + 1, b); atomicAdd(p + 2, c); atomicAdd(p + 3, d);
#endif
}
__device__ __forceinline__ void scatter(double* p, double a, double b, double c, double d) {
  atomicAdd(p, a); atomicAdd(p + 1, b); atomicAdd(p + 2, c); atomicAdd(p + 3, d);
}

template <typename T, typename I>
__device__ __forceinline__ Four<T> row_product(
    const I* indptr, const int* indices, const T* data, const T* right, long long i, int width, int t) {
  Four<T> s = {0, 0, 0, 0};
  I stop = indptr[i + 1];
  #pragma unroll 4
  for (I p = indptr[i]; p < stop; ++p) {
    T a = __ldg(data + p);
    Four<T> q = load(right + (long long)__ldg(indices + p) * width + 4 * t);
    s.x += a * q.x; s.y += a * q.y; s.z += a * q.z; s.w += a * q.w;
  }
  return s;
}

// result += A[start:stop]^T (A[start:stop] right)
template <typename T, typename I>
__global__ void normal(const I* indptr, const int* indices, const T* data, const T* right, T* result,
                       long long start, long long stop, int width) {
  int lanes = width / 4, t = threadIdx.x % lanes;
  long long i = start + (long long)blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes;
  if (threadIdx.x >= (blockDim.x / lanes) * lanes || i >= stop) return;
  Four<T> s = row_product<T, I>(indptr, indices, data, right, i, width, t);
  I end = indptr[i + 1];
  #pragma unroll 4
  for (I p = indptr[i]; p < end; ++p) {
    T a = __ldg(data + p);
    scatter(result + (long long)__ldg(indices + p) * width + 4 * t, a * s.x, a * s.y, a * s.z, a * s.w);
  }
}

// result[i] = A[i] right
template <typename T, typename I>
__global__ void multiply(const I* indptr, const int* indices, const T* data, const T* right, T* result,
                         long long start, long long stop, int width) {
  int lanes = width / 4, t = threadIdx.x % lanes;
  long long i = start + (long long)blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes;
  if (threadIdx.x >= (blockDim.x / lanes) * lanes || i >= stop) return;
  Four<T> s = row_product<T, I>(indptr, indices, data, right, i, width, t);
  T* p = result + i * width + 4 * t;
  p[0] = s.x; p[1] = s.y; p[2] = s.z; p[3] = s.w;
}

// result += A[start:stop]^T left[start:stop]
template <typename T, typename I>
__global__ void multiply_transposed(const I* indptr, const int* indices, const T* data, const T* left, T* result,
                                    long long start, long long stop, int width) {
  int lanes = width / 4, t = threadIdx.x % lanes;
  long long i = start + (long long)blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes;
  if (threadIdx.x >= (blockDim.x / lanes) * lanes || i >= stop) return;
  Four<T> s = load(left + i * width + 4 * t);
  I end = indptr[i + 1];
  for (I p = indptr[i]; p < end; ++p) {
    T a = __ldg(data + p);
    scatter(result + (long long)__ldg(indices + p) * width + 4 * t, a * s.x, a * s.y, a * s.z, a * s.w);
  }
}

// result[3 j ...] += (u^T A, sum of squares, weight of the stored entries) of column j; no u means ones.
// *longest = the largest squared length of a row; doubles that are not negative are ordered like their bits.
template <typename T, typename I>
__global__ void column_sums(const I* indptr, const int* indices, const T* data, const double* roots, int weighted,
                            double* result, unsigned long long* longest, long long start, long long stop) {
  long long i = start + ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (i >= stop) return;
  double u = weighted ? roots[i] : 1.0, length = 0.0;
  for (I p = indptr[i] + threadIdx.x % 32; p < indptr[i + 1]; p += 32) {
    double a = data[p];
    double* target = result + 3ll * indices[p];
    atomicAdd(target, u * a); atomicAdd(target + 1, a * a); atomicAdd(target + 2, u * u);
    length += a * a;
  }
  for (int step = 16; step > 0; step /= 2) length += __shfl_xor_sync(0xffffffffu, length, step);
  if (threadIdx.x % 32 == 0) atomicMax(longest, (unsigned long long)__double_as_longlong(length));
}
"""


@lru_cache(maxsize=1)
def _module() -> Any:
    cupy = require("cupy", purpose="sparse matrices on a GPU")
    names = [
        f"{kernel}<{real}, {index}>"
        for kernel in ("normal", "multiply", "multiply_transposed", "column_sums")
        for real in ("float", "double")
        for index in ("int", "long long")
    ]
    return cupy.RawModule(code=_SOURCE, options=("-std=c++17",), name_expressions=names)


def _kernel(name: str, indptr: Any, data: Any) -> Any:
    real = "float" if data.dtype.itemsize == 4 else "double"
    index = "int" if indptr.dtype.itemsize == 4 else "long long"
    return _module().get_function(f"{name}<{real}, {index}>")


def run(name: str, csr: Any, factor: Any, result: Any, start: int, stop: int) -> None:
    """One of normal, multiply, multiply_transposed on the rows start..stop; all arrays are CuPy's, C-ordered."""
    width = int(result.shape[1])
    rows = max(1, _THREADS // (width // 4))
    blocks = -(-(stop - start) // rows)
    arguments = (csr.indptr, csr.indices, csr.data, factor, result)
    numpy = require("numpy")
    _kernel(name, csr.indptr, csr.data)(
        (blocks,), (_THREADS,), (*arguments, numpy.int64(start), numpy.int64(stop), numpy.int32(width))
    )


def column_sums(csr: Any, roots: Any, result: Any, longest: Any) -> None:
    """Sums, squares and stored weights of the columns, added to `result` (columns x 3, float64).

    `longest` (one float64, zero before) becomes the largest squared length of a row.
    """
    numpy = require("numpy")
    rows = csr.shape[0]
    weighted = numpy.int32(roots is not None)
    place = result if roots is None else roots
    _kernel("column_sums", csr.indptr, csr.data)(
        (-(-rows * 32 // _THREADS),), (_THREADS,),
        (csr.indptr, csr.indices, csr.data, place, weighted, result, longest, numpy.int64(0), numpy.int64(rows)),
    )  # fmt: skip
