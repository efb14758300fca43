// Digest sums (engine/digest.py): every word is read once. Sums are modulo 2^64, so their order does not matter.

typedef unsigned long long u64;

constexpr u64 ROW = 0xBF58476D1CE4E5B9ull, FIRST = 0x9E3779B97F4A7C15ull, SECOND = 0xD6E8FEB86659FD93ull;

__device__ __forceinline__ void mix(u64 word, u64 row, u64& one, u64& two) {
  u64 v = word + row * ROW;
  u64 x = (v ^ (v >> 32)) * FIRST;
  u64 y = (x ^ (x >> 29)) * SECOND;
  one += x;
  two += y ^ (y >> 32);
}

__device__ __forceinline__ void add_up(u64 one, u64 two, u64* sums) {
  for (int step = 16; step > 0; step /= 2) {
    one += __shfl_xor_sync(0xffffffffu, one, step);
    two += __shfl_xor_sync(0xffffffffu, two, step);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(sums, one);
    atomicAdd(sums + 1, two);
  }
}

// Rows of doubles, or of pairs of floats (`single`); if the number of floats is odd, the last is paired with zero.
// Strides are in entries. Neighbouring threads read neighbouring entries of a row, or of a column if `across`.
extern "C" __global__ void dense_sums(const void* data, const u64* keys, u64* sums, long long rows, long long columns,
                                      long long row_step, long long column_step, long long first, int single,
                                      int across) {
  long long words = single ? (columns + 1) / 2 : columns;
  long long fast = across ? rows : words, slow = across ? words : rows;
  long long stride = (long long)gridDim.x * blockDim.x, start = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  long long s = start / fast, f = start % fast;
  const long long slow_step = stride / fast, fast_step = stride % fast;
  u64 one = 0, two = 0;
  while (s < slow) {
    long long i = across ? f : s, j = across ? s : f;
    u64 word;
    if (single) {
      const unsigned* p = (const unsigned*)data + i * row_step + 2 * j * column_step;
      word = p[0];
      if (2 * j + 1 < columns) word |= (u64)p[column_step] << 32;
    } else {
      word = ((const u64*)data)[i * row_step + j * column_step];
    }
    mix(word ^ keys[j], (u64)(first + i), one, two);
    s += slow_step;
    f += fast_step;
    if (f >= fast) {
      f -= fast;
      s += 1;
    }
  }
  add_up(one, two, sums);
}

// The stored entries of CSR rows, 32 threads per row.
template <typename W, typename I>
__device__ void stored(const W* data, const int* indices, const I* indptr, const u64* keys, u64* sums, long long rows,
                       long long first) {
  long long warps = (long long)gridDim.x * blockDim.x / 32;
  u64 one = 0, two = 0;
  for (long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; i < rows; i += warps) {
    for (I p = indptr[i] + threadIdx.x % 32; p < indptr[i + 1]; p += 32) {
      mix((u64)data[p] ^ keys[indices[p]], (u64)(first + i), one, two);
    }
  }
  add_up(one, two, sums);
}

#define STORED(name, W, I)                                                                                        \
  extern "C" __global__ void name(const W* data, const int* indices, const I* indptr, const u64* keys, u64* sums, \
                                  long long rows, long long first) {                                              \
    stored<W, I>(data, indices, indptr, keys, sums, rows, first);                                                 \
  }
STORED(stored_4_4, unsigned, int)
STORED(stored_4_8, unsigned, long long)
STORED(stored_8_4, u64, int)
STORED(stored_8_8, u64, long long)
