// Coordinate descent on one quadratic program per row: min over d >= -begin of 1/2 d Q d + g d.
//
// All arrays have one column per row of the factor, so that the threads of a warp read neighbours. Q is stored as its
// upper triangle, row after row; `rest` is g when called and g + Q d on return; `inverse` has 1 / Q_tt, or zero for a
// coordinate that is fixed.
template <typename T>
__global__ void descend(const T* __restrict__ triangles, T* __restrict__ rest, const T* __restrict__ begin,
                        const T* __restrict__ inverse, T* __restrict__ step, int k, long long rows, int sweeps) {
  const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (int t = 0; t < k; ++t) {
      const long long at = t * rows + row;
      const T old = step[at], lowest = -begin[at];
      T next = old - rest[at] * inverse[at];
      next = next > lowest ? next : lowest;
      const T move = next - old;
      if (move == T(0)) continue;
      step[at] = next;
      for (int s = 0; s < k; ++s) {
        const int low = s < t ? s : t, high = s < t ? t : s;
        const long long place = (long long)low * k - (long long)low * (low - 1) / 2 + high - low;
        rest[s * rows + row] += triangles[place * rows + row] * move;
      }
    }
  }
}
