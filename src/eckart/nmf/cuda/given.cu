// Least squares for given products A other: each warp processes some rows of a group of 64, with one or more
// coordinates per lane.
template <typename V> __device__ __forceinline__ V over_warp(V v) {
  #pragma unroll
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}

// min over w >= 0 of 1/2 w G w^T - (products - lasso) w^T for a group of rows; lane l has coordinates l, l + 32, ...
template <typename T, typename P, int J, int WARPS>
__global__ void __launch_bounds__(32 * WARPS) given_rows(
    const int* __restrict__ edges, const P* __restrict__ products, const T* __restrict__ begin,
    const T* __restrict__ old, const double* __restrict__ gram, const double* __restrict__ inverse, int k, double lasso,
    int sweeps, double share, const double* push, T* fresh, T* ahead, double* values, double* violations) {
  constexpr int R = 64 / WARPS;
  __shared__ double changes[2][WARPS];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long start = edges[2 * blockIdx.x], stop = edges[2 * blockIdx.x + 1];
  double rest[R][J], own[R][J], violation[R];
  #pragma unroll
  for (int r = 0; r < R; ++r) {
    const long long row = start + warp + r * WARPS;
    violation[r] = 0;
    #pragma unroll
    for (int j = 0; j < J; ++j) {
      const bool there = row < stop && lane + 32 * j < k;
      own[r][j] = there ? double(begin[row * k + lane + 32 * j]) : 0.0;
      rest[r][j] = there ? double(products[row * k + lane + 32 * j]) - lasso : 0.0;
    }
  }
  // Lane t % 32 holds coordinate t in place t / 32.
  #pragma unroll
  for (int place = 0; place < J; ++place) {
    for (int t = 32 * place; t < k && t < 32 * place + 32; ++t) {
      #pragma unroll
      for (int r = 0; r < R; ++r) {
        const double weight = __shfl_sync(0xffffffffu, own[r][place], t % 32);
        if (weight == 0.0) continue;
        #pragma unroll
        for (int j = 0; j < J; ++j)
          if (lane + 32 * j < k) rest[r][j] -= weight * __ldg(gram + (long long)t * k + lane + 32 * j);
      }
    }
  }
  double first = 0;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    double change = 0;
    #pragma unroll
    for (int place = 0; place < J; ++place) {
      for (int t = 32 * place; t < k && t < 32 * place + 32; ++t) {
        const double weight = __ldg(gram + (long long)t * k + t), divisor = __ldg(inverse + t);
        if (weight <= 0.0) continue;
        double entries[J];
        #pragma unroll
        for (int j = 0; j < J; ++j)
          entries[j] = lane + 32 * j < k ? __ldg(gram + (long long)t * k + lane + 32 * j) : 0.0;
        #pragma unroll
        for (int r = 0; r < R; ++r) {
          const double slope = rest[r][place], held = own[r][place];
          double move = slope * divisor;
          move = move > -held ? move : -held;
          if (lane == t % 32) {
            if (sweep == 0) violation[r] += held > 0.0 ? fabs(slope) : (slope > 0.0 ? slope : 0.0);
            own[r][place] = held + move;
          }
          move = __shfl_sync(0xffffffffu, move, t % 32);
          if (move == 0.0) continue;
          change += move * move * weight;
          #pragma unroll
          for (int j = 0; j < J; ++j) rest[r][j] -= move * entries[j];
        }
      }
    }
    // All threads of the group stop or continue together.
    if (lane == 0) changes[sweep % 2][warp] = change;
    __syncthreads();
    change = 0;
    for (int w = 0; w < WARPS; ++w) change += changes[sweep % 2][w];
    if (sweep == 0) first = change;
    if (change <= share * first) break;
  }
  #pragma unroll
  for (int r = 0; r < R; ++r) {
    const long long row = start + warp + r * WARPS;
    double value = 0;
    #pragma unroll
    for (int j = 0; j < J; ++j) {
      const long long place = row * k + lane + 32 * j;
      if (row >= stop || lane + 32 * j >= k) continue;
      value -= 0.5 * own[r][j] * (double(products[place]) - lasso + rest[r][j]);
      fresh[place] = T(own[r][j]);
      const double onward = own[r][j] + *push * (own[r][j] - double(old[place]));
      ahead[place] = T(onward > 0.0 ? onward : 0.0);
    }
    value = over_warp(value);
    const double met = over_warp(violation[r]);
    if (lane == 0 && row < stop) { values[row] = value; violations[row] = met; }
  }
}
