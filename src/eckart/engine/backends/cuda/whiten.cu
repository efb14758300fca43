__device__ double least(double a, double b) { return b < a || b != b ? b : a; }   // NaN is kept
__device__ double most(double a, double b) { return b > a || b != b ? b : a; }

extern "C" __global__ void __launch_bounds__(1024) whiten(
    const double* gram, double* result, double* facts, int size) {
  __shared__ double lengths[64], pivots[64], sums[64], squares[32], row[2][128], column[2][64];
  int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
  if (threadIdx.x < 64) {
    int i = threadIdx.x;
    lengths[i] = i < size ? sqrt(gram[i * size + i]) : 1.0;
    pivots[i] = 1.0;
  }
  __syncthreads();

  // a[r][c]: row ty + 32 r; columns tx + 32 c of S (c = 0, 1) and of the inverse, initially I (c = 2, 3)
  double a[2][4];
  #pragma unroll
  for (int r = 0; r < 2; r++) {
    int i = ty + 32 * r;
    double sum = 0.0;
    #pragma unroll
    for (int c = 0; c < 2; c++) {
      int j = tx + 32 * c;
      double unit = i == j ? 1.0 : 0.0;
      a[r][c] = i < size && j < size && i != j ? gram[i * size + j] / (lengths[i] * lengths[j]) : unit;
      a[r][c + 2] = unit;
      if (i != j) sum += fabs(a[r][c]);
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (tx == 0) sums[i] = sum;
  }

  #pragma unroll
  for (int half = 0; half < 2; half++) {
    int last = min(size - 32 * half, 32);
    for (int k = 0; k < last; k++) {
      int j = 32 * half + k, turn = k % 2;
      if (ty == k) {
        #pragma unroll
        for (int c = 0; c < 4; c++) row[turn][tx + 32 * c] = a[half][c];
      }
      if (tx == k) {
        #pragma unroll
        for (int r = 0; r < 2; r++) column[turn][ty + 32 * r] = a[r][half];
      }
      __syncthreads();
      double pivot = row[turn][j];
      if (threadIdx.x == 0) pivots[j] = pivot;
      #pragma unroll
      for (int r = 0; r < 2; r++) {
        int i = ty + 32 * r;
        if (i > j) {
          double factor = column[turn][i] / pivot;
          #pragma unroll
          for (int c = 0; c < 4; c++) a[r][c] -= factor * row[turn][tx + 32 * c];
        }
      }
    }
    __syncthreads();
  }

  double square = 0.0;
  #pragma unroll
  for (int r = 0; r < 2; r++) {
    int i = ty + 32 * r;
    #pragma unroll
    for (int c = 0; c < 2; c++) {
      int j = tx + 32 * c;
      if (i < size && j < size) {
        double entry = a[r][c + 2] / sqrt(pivots[i]);
        square += entry * entry;
        result[j * size + i] = entry / lengths[j];
      }
    }
  }
  for (int step = 16; step > 0; step /= 2) square += __shfl_xor_sync(0xffffffff, square, step);
  if (tx == 0) squares[ty] = square;
  __syncthreads();
  if (threadIdx.x == 0) {
    double shortest = lengths[0], total = squares[0], largest = sums[0];
    for (int i = 1; i < 32; i++) total += squares[i];
    for (int i = 1; i < size; i++) {
      shortest = least(shortest, lengths[i]);
      largest = most(largest, sums[i]);
    }
    facts[0] = shortest;
    facts[1] = 1.0 / sqrt(total);
    facts[2] = largest;
  }
}
