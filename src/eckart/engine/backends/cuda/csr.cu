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
// *longest = the largest squared length of a row; non-negative doubles compare like their bit patterns.
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
