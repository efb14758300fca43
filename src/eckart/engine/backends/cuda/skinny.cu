constexpr int TILE = 256, DEPTH = 32, W = WIDTH;
extern __shared__ __align__(128) float buffer[];

__device__ __forceinline__ void fetch(float* place, const float* from, bool inside) {
  unsigned address = (unsigned)__cvta_generic_to_shared(place);
  int size = inside ? 16 : 0;  // the remaining bytes are filled with zeros
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(address), "l"(from), "r"(size));
}

__device__ __forceinline__ void split(float x, unsigned& high, unsigned& low) {
  high = (__float_as_uint(x) + 0x1000u) & 0xffffe000u;  // round to 11 significant bits
  low = __float_as_uint(x - __uint_as_float(high));
}

// Shared-memory layout that wgmma expects: cells of 8 columns x 4 rows, two cells deep, then the next 8 columns
__device__ __forceinline__ unsigned long long descriptor(const float* tile) {
  unsigned long long address = (unsigned)__cvta_generic_to_shared(tile);
  return (address >> 4) | (128ull >> 4) << 16 | (256ull >> 4) << 32;
}

#define D16 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define D32 D16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define FOUR(o) "+f"(c[o]), "+f"(c[o + 1]), "+f"(c[o + 2]), "+f"(c[o + 3])
#define EIGHT(o) FOUR(o), FOUR(o + 4)

// c = A B for 64 rows, 8 deep: A'' B', A' B'', A' B', in this order; ROUGH: only A' B'
__device__ __forceinline__ void triple(float (&c)[W / 2], const unsigned* high, const unsigned* low,
                                       unsigned long long first, unsigned long long second) {
#if WIDTH == 64
#define SHAPE "m64n64k8.f32.tf32.tf32 {" D32 "}, "
#define HIGH "{%32,%33,%34,%35}, "
#define LOW "{%36,%37,%38,%39}, "
#define FIRST "%40, "
#define SECOND "%41, "
#else
#define SHAPE "m64n32k8.f32.tf32.tf32 {" D16 "}, "
#define HIGH "{%16,%17,%18,%19}, "
#define LOW "{%20,%21,%22,%23}, "
#define FIRST "%24, "
#define SECOND "%25, "
#endif
  asm volatile(
      "{ .reg .pred no, yes; .reg .b32 zero; mov.b32 zero, 0; setp.ne.b32 no, zero, 0; setp.eq.b32 yes, zero, 0;"
      "wgmma.fence.sync.aligned;"
#ifdef ROUGH
      "wgmma.mma_async.sync.aligned." SHAPE HIGH FIRST "no, 1, 1;"
#else
      "wgmma.mma_async.sync.aligned." SHAPE LOW FIRST "no, 1, 1;"
      "wgmma.mma_async.sync.aligned." SHAPE HIGH SECOND "yes, 1, 1;"
      "wgmma.mma_async.sync.aligned." SHAPE HIGH FIRST "yes, 1, 1;"
#endif
      "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; }"
      : EIGHT(0), EIGHT(8)
#if WIDTH == 64
      , EIGHT(16), EIGHT(24)
#endif
      : "r"(high[0]), "r"(high[1]), "r"(high[2]), "r"(high[3]), "r"(low[0]), "r"(low[1]), "r"(low[2]), "r"(low[3]),
        "l"(first), "l"(second));
}

// total += A B for 64 rows, 8 deep; `factor` contains B', followed by B''
__device__ __forceinline__ void add_product(float (&total)[W / 2], const float (&a)[4], const float* factor) {
  unsigned high[4], low[4];
  #pragma unroll
  for (int i = 0; i < 4; i++) split(a[i], high[i], low[i]);
  float part[W / 2];
  triple(part, high, low, descriptor(factor), descriptor(factor + 8 * W));
  #pragma unroll
  for (int i = 0; i < W / 2; i++) total[i] += part[i];
}

// 32 rows of an arranged factor
__device__ __forceinline__ void fetch_factor(float* place, const float* factor) {
  #pragma unroll
  for (int i = 4 * threadIdx.x; i < DEPTH * 2 * W; i += 1024) fetch(place + i, factor + i, true);
}

__device__ __forceinline__ void arrived() {
  asm volatile("fence.proxy.async.shared::cta;");  // make the copied data visible to wgmma
  __syncthreads();
}

// Start copying the block after k, if there is one, and wait for block k
template <typename Load>
__device__ __forceinline__ void wait_for(int stage, int k, int end, const Load& load) {
  if (k + DEPTH < end) {
    load(stage ^ 1, k + DEPTH);
    asm volatile("cp.async.wait_group 1;");
  } else {
    asm volatile("cp.async.wait_group 0;");
  }
  arrived();
}

__device__ __forceinline__ void store(float* result, const float (&total)[W / 2], long long row, long long rows,
                                      int t) {
  #pragma unroll
  for (int half = 0; half < 2; half++)
    if (row + 8 * half < rows)
      #pragma unroll
      for (int n = 0; n < W / 8; n++)
        *reinterpret_cast<float2*>(result + (row + 8 * half) * W + 8 * n + 2 * t) =
            make_float2(total[4 * n + 2 * half], total[4 * n + 2 * half + 1]);
}

// result[piece] = (S - 1 shift^T)[:, piece] Q[piece, :], and the squared lengths of the rows [:, piece]
template <bool SUMS>
__device__ __forceinline__ void straight(const float* stored, const float* shift, const float* factor, float* result,
    float* squares, long long rows, long long columns, long long stride, int piece) {
  constexpr int ROW = DEPTH + 4, FACTOR = DEPTH * 2 * W, SIZE = TILE * ROW + FACTOR;
  long long first = (long long)blockIdx.x * TILE, start = (long long)blockIdx.y * piece;
  int left_rows = (int)min(rows - first, (long long)TILE), left_columns = (int)min((long long)piece, columns - start);
  int line = threadIdx.x / 8, place_in = 4 * (threadIdx.x % 8), g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const float* source = stored + (first + line) * stride + start + place_in;
  factor += start * 2 * W;
  auto load = [&](int stage, int k) {
    float* block = buffer + stage * SIZE;
    fetch_factor(block, factor + (long long)k * 2 * W);
    #pragma unroll
    for (int j = 0; j < TILE; j += 32)
      fetch(block + FACTOR + (line + j) * ROW + place_in, source + j * stride + k,
            k + place_in < left_columns && line + j < left_rows);
    asm volatile("cp.async.commit_group;");
  };
  // Rows of this thread: four warps process a tile of 64 rows, and then a second one
  int mine = threadIdx.x / 128 * 128 + threadIdx.x / 32 % 4 * 16 + g;
  float total[2][W / 2] = {}, found[4] = {};
  load(0, 0);
  for (int k = 0, stage = 0; k < left_columns; k += DEPTH, stage ^= 1) {
    const float* block = buffer + stage * SIZE;
    wait_for(stage, k, left_columns, load);
    #pragma unroll 1
    for (int depth = 0; depth < DEPTH; depth += 8) {
      float left = 0.f, right = 0.f;
      if (shift) {
        int column = k + depth + t;
        left = column < left_columns ? shift[start + column] : 0.f;
        right = column + 4 < left_columns ? shift[start + column + 4] : 0.f;
      }
      #pragma unroll
      for (int m = 0; m < 2; m++) {
        const float* x = block + FACTOR + (mine + 64 * m) * ROW + depth + t;
        float a[4] = {x[0] - left, x[8 * ROW] - left, x[4] - right, x[8 * ROW + 4] - right};
        for (int i = 0; SUMS && i < 2; i++) found[2 * m + i] += a[i] * a[i] + a[i + 2] * a[i + 2];
        add_product(total[m], a, block + depth * 2 * W);
      }
    }
    __syncthreads();
  }
  result += (long long)blockIdx.y * rows * W;
  for (int m = 0; m < 2; m++) store(result, total[m], first + mine + 64 * m, rows, t);
  for (int i = 0; SUMS && i < 4; i++) {
    float sum = found[i];
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    long long row = first + mine + 64 * (i / 2) + 8 * (i % 2);
    if (t == 0 && row < rows) squares[blockIdx.y * rows + row] = sum;
  }
}

// result[piece] = (S - 1 shift^T)[piece, :]^T Y[piece, :], and the sums of its columns and of their squares
template <bool SUMS>
__device__ __forceinline__ void transposed(const float* stored, const float* shift, const float* factor, float* result,
    double* sums, long long rows, long long columns, long long stride, int piece) {
  constexpr int ROW = TILE + 8, FACTOR = DEPTH * 2 * W, SIZE = DEPTH * ROW + FACTOR;
  long long first = (long long)blockIdx.x * TILE, start = (long long)blockIdx.y * piece;
  int left_rows = (int)min((long long)piece, rows - start), left_columns = (int)min(columns - first, (long long)TILE);
  int line = threadIdx.x / 64, place_in = 4 * (threadIdx.x % 64), g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const float* source = stored + (start + line) * stride + first + place_in;
  factor += start * 2 * W;
  auto load = [&](int stage, int k) {
    float* block = buffer + stage * SIZE;
    fetch_factor(block, factor + (long long)k * 2 * W);
    #pragma unroll
    for (int j = 0; j < DEPTH; j += 4)
      fetch(block + FACTOR + (line + j) * ROW + place_in, source + (long long)(k + j) * stride,
            place_in < left_columns && k + line + j < left_rows);
    asm volatile("cp.async.commit_group;");
  };
  int mine = threadIdx.x / 128 * 128 + threadIdx.x / 32 % 4 * 16 + g;
  float offset[4] = {};
  if (shift)
    for (int i = 0; i < 4; i++) {
      int column = mine + 64 * (i / 2) + 8 * (i % 2);
      offset[i] = column < left_columns ? shift[first + column] : 0.f;
    }
  float total[2][W / 2] = {};
  double found[4][2] = {};
  load(0, 0);
  for (int k = 0, stage = 0; k < left_rows; k += DEPTH, stage ^= 1) {
    const float* block = buffer + stage * SIZE;
    wait_for(stage, k, left_rows, load);
    float few[4][2] = {};  // sums of eight rows in float32, because converting every term to float64 is slow
    #pragma unroll 1
    for (int depth = 0; depth < DEPTH; depth += 8)
      #pragma unroll
      for (int m = 0; m < 2; m++) {
        float a[4];
        #pragma unroll
        for (int i = 0; i < 4; i++) {
          int row = depth + t + 4 * (i / 2), which = 2 * m + i % 2;
          a[i] = block[FACTOR + row * ROW + mine + 64 * m + 8 * (i % 2)] - offset[which];
          if (SUMS && k + row < left_rows) {
            few[which][0] += a[i];
            few[which][1] += a[i] * a[i];
          }
        }
        add_product(total[m], a, block + depth * 2 * W);
      }
    for (int i = 0; SUMS && i < 8; i++) found[i / 2][i % 2] += few[i / 2][i % 2];
    __syncthreads();
  }
  result += (long long)blockIdx.y * columns * W;
  for (int m = 0; m < 2; m++) store(result, total[m], first + mine + 64 * m, columns, t);
  for (int i = 0; SUMS && i < 8; i++) {
    double sum = found[i / 2][i % 2];
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    int column = mine + 64 * (i / 4) + 8 * (i / 2 % 2);
    if (t == 0 && column < left_columns) sums[(blockIdx.y * 2ll + i % 2) * columns + first + column] = sum;
  }
}

#define ARGUMENTS(kind) const float* stored, const float* shift, const float* factor, float* result, kind* sums, \
    long long rows, long long columns, long long stride, int piece
#define KERNEL(name, way, found, kind) \
    extern "C" __global__ void __launch_bounds__(256, 2) name(ARGUMENTS(kind)) { \
      way<found>(stored, shift, factor, result, sums, rows, columns, stride, piece); \
    }
KERNEL(multiply, straight, false, float)
KERNEL(multiply_sums, straight, true, float)
KERNEL(multiply_transposed, transposed, false, double)
KERNEL(multiply_transposed_sums, transposed, true, double)

// *longest = the largest squared length of a row, given those of its pieces; positive doubles compare like their bits
extern "C" __global__ void longest_row(const float* squares, unsigned long long* longest, long long rows, int count) {
  long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  double found = 0.0;
  for (int piece = 0; row < rows && piece < count; piece++) found += squares[piece * rows + row];
  for (int step = 16; step > 0; step /= 2) {
    double other = __shfl_xor_sync(0xffffffffu, found, step);
    if (other > found || other != other) found = other;  // NaN is kept
  }
  if (threadIdx.x % 32 == 0) atomicMax(longest, (unsigned long long)__double_as_longlong(found));
}

// The first columns of the pieces, added up in float64
extern "C" __global__ void add_pieces(const float* pieces, double* total, long long rows, int columns, int count) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x, row = i / columns;
  if (row >= rows) return;
  long long place = row * W + i % columns;
  double sum = 0.0;
  for (int piece = 0; piece < count; piece++) sum += pieces[piece * rows * W + place];
  total[i] = sum;
}

// A float32 factor split into two parts, in the layout of `descriptor`; rows past the last one are zeros
__device__ __forceinline__ void put(float* arranged, long long row, int column, float x) {
  unsigned high, low;
  split(x, high, low);
  long long place = row / 8 * 16 * W + column / 8 * 64 + row % 8 / 4 * 32 + column % 8 * 4 + row % 4;
  arranged[place] = __uint_as_float(high);
  arranged[place + 8 * W] = __uint_as_float(low);
}

// the same for a factor that is the sum of several pieces
extern "C" __global__ void arrange_pieces(const float* pieces, float* arranged, long long rows, long long all_rows,
                                          int count) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x, row = i / W;
  if (row >= all_rows) return;
  double sum = 0.0;
  for (int piece = 0; row < rows && piece < count; piece++) sum += pieces[piece * rows * W + i];
  put(arranged, row, (int)(i % W), (float)sum);
}

// the same for a factor of the caller, with fewer columns and any strides
template <typename T>
__device__ __forceinline__ void arrange(const T* given, float* arranged, long long rows, long long all_rows,
                                        long long row_step, long long column_step, int columns) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x, row = i / W;
  if (row >= all_rows) return;
  int column = (int)(i % W);
  bool inside = row < rows && column < columns;
  put(arranged, row, column, inside ? (float)given[row * row_step + column * column_step] : 0.f);
}
#define ARRANGE(name, kind) \
    extern "C" __global__ void name(const kind* given, float* arranged, long long rows, long long all_rows, \
                                    long long row_step, long long column_step, int columns) { \
      arrange(given, arranged, rows, all_rows, row_step, column_step, columns); \
    }
ARRANGE(arrange_float32, float)
ARRANGE(arrange_float64, double)
