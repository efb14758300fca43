// Arithmetic, sums over lanes and the step of one coordinate, which near.cu and far.cu share.
// Accurate to two units in the last place, in one or two instructions.
__device__ __forceinline__ float quotient(float a, float b) { return __fdividef(a, b); }
__device__ __forceinline__ double quotient(double a, double b) { return a / b; }
__device__ __forceinline__ float inverse_of(float v) {
#ifdef __CUDA_ARCH__
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
#else
  return 1.0f / v;
#endif
}
__device__ __forceinline__ double inverse_of(double v) { return 1.0 / v; }
__device__ __forceinline__ float root(float v) {
#ifdef __CUDA_ARCH__
  float r;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
#else
  return sqrtf(v);
#endif
}
__device__ __forceinline__ double root(double v) { return sqrt(v); }
__device__ __forceinline__ float logarithm(float v) { return logf(v); }
__device__ __forceinline__ double logarithm(double v) { return log(v); }
__device__ __forceinline__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ double larger(double a, double b) { return fmax(a, b); }
__device__ __forceinline__ float smaller(float a, float b) { return fminf(a, b); }
__device__ __forceinline__ double smaller(double a, double b) { return fmin(a, b); }
__device__ __forceinline__ int smaller(int a, int b) { return a < b ? a : b; }
__device__ __forceinline__ float modulus(float a) { return fabsf(a); }
__device__ __forceinline__ double modulus(double a) { return fabs(a); }

// Several numbers of a row of the other factor, loaded together.
template <typename T> struct Several;
template <> struct Several<float> { static constexpr int count = 4; using type = float4; };
template <> struct Several<double> { static constexpr int count = 2; using type = double2; };
__device__ __forceinline__ void spread(float4 v, float* target, long long stride) {
  target[0] = v.x; target[stride] = v.y; target[2 * stride] = v.z; target[3 * stride] = v.w;
}
__device__ __forceinline__ void spread(double2 v, double* target, long long stride) {
  target[0] = v.x; target[stride] = v.y;
}

// Over the lanes of a team in one warp; all lanes get the same bits.
template <int LANES, typename V> __device__ __forceinline__ V sum_over(V v) {
  #pragma unroll
  for (int o = LANES / 2; o; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}
template <int LANES, typename V> __device__ __forceinline__ V least_over(V v) {
  #pragma unroll
  for (int o = LANES / 2; o; o >>= 1) v = smaller(v, __shfl_xor_sync(0xffffffffu, v, o));
  return v;
}
template <int TEAM> __device__ __forceinline__ void meet() {
  if constexpr (TEAM > 32) __syncthreads(); else __syncwarp();
}

// The step of one coordinate; `cost` is the sum of all terms that decrease it, except the ridge penalty.
template <typename T, bool DIVERGENCE>
__device__ __forceinline__ void newton(T pull, T curve, T weight, T cost, T ridge, T concord, T& slope, T& move) {
  slope = pull - cost - ridge * weight;
  curve += ridge;
  if constexpr (!DIVERGENCE) {
    move = curve > T(0) ? quotient(slope, curve) : T(0);
    return;
  }
  // Without branches, because the rows of a warp seldom take the same one.
  const bool curved = curve > T(0);
  move = curved ? slope * inverse_of(curve) : slope < T(0) ? -weight : T(0);
  // Newton decrement up to which a full step cannot raise a self-concordant function (Hien and Gillis, 2021): its
  // square is concord move^2 curve = concord slope move, where 1 / concord is the smallest positive entry of the row.
  if (curved && move < T(0) && concord * (slope * move) > T(0.683802 * 0.683802)) {
    // A multiplicative update never raises the objective either: the longer of the two safe steps.
    const T multiplicative = weight * (quotient(pull, cost + ridge * weight) - T(1));
    const T damped = quotient(move, T(1) - move * root(concord * curve));
    move = smaller(damped, multiplicative);
  }
}
