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

// Box-Muller: sqrt(-2 log u) cos(2 pi v) in the upper half of the rows, the same with the sine in the lower half
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
