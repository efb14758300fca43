"""The row steps of NMF on a GPU: the mathematics of `nmf_entries` and `nmf_frobenius`, a row in the hands of a team.

`entry_rows`: rows go by their number of entries to a team of 8 lanes up to 512 threads, which gathers the parts that a
row needs once and sweeps over the coordinates with x, the model and its inverse in registers: `near_rows` (in
`cuda_nmf_near`) where all parts fit into shared memory, else `far_rows`, which keeps the rest in a slice that stays in
the L2 cache. `given_rows`: a warp holds some rows of a group of 64, a coordinate or more in each lane; groups are those
of the processor, since a group decides when it has enough.
Arithmetic over entries is in the precision of the data, sums over rows are in double precision and in a fixed order.
CUDA C++ for CuPy's RawModule, compiled when first used, one form at a time.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from eckart.engine.backends.cuda.arrays import seen_by_cupy
from eckart.errors import require
from eckart.nmf.cuda_near import NEAR

NEAR_TEAMS: tuple[tuple[int, int], ...] = (
    (8, 4), (8, 6), (8, 7), (8, 8), (16, 8), (32, 8), (128, 4), (128, 8), (256, 7), (256, 8)
)  # fmt: skip
"""(threads of a team, entries of each thread): a row goes to the first team that can hold it and its parts."""
FAR_TEAM = (256, 8)
"""The team of rows whose parts are too many for shared memory."""
LONGEST = (512, 4)
"""The team of rows that no team can hold in registers: its entries are in memory."""
_WARP_BYTES = 100_000
"""A warp whose teams keep more than this would be nearly alone on its multiprocessor: a whole block does better."""
_SCRATCH_BYTES = 2**31
_GROUP = 64
_PIECES = 8

_STEPS = r"""
// Within two units of the last place, in one instruction or two.
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

// Some numbers of a row of the other factor at once.
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

// The step of one coordinate; `cost` holds all that pulls down but the ridge.
template <typename T, bool DIVERGENCE>
__device__ __forceinline__ void newton(T pull, T curve, T weight, T cost, T ridge, T concord, T& slope, T& move) {
  slope = pull - cost - ridge * weight;
  curve += ridge;
  if constexpr (!DIVERGENCE) {
    move = curve > T(0) ? quotient(slope, curve) : T(0);
    return;
  }
  // Straight on, since the rows of a warp seldom agree on a way.
  const bool curved = curve > T(0);
  move = curved ? slope * inverse_of(curve) : slope < T(0) ? -weight : T(0);
  // Newton decrement up to which a full step cannot raise a self-concordant function (Hien and Gillis, 2021): its
  // square is concord move^2 curve = concord slope move, where 1 / concord is the smallest positive entry of the row.
  if (curved && move < T(0) && concord * (slope * move) > T(0.683802 * 0.683802)) {
    // A multiplicative update never raises the objective either: the longer of the two safe steps.
    const T taught = weight * (quotient(pull, cost + ridge * weight) - T(1));
    const T damped = quotient(move, T(1) - move * root(concord * curve));
    move = smaller(damped, taught);
  }
}
"""

_FAR = r"""
// A block a row. PLACE 1: the entries of a row are in registers, E in each thread, and those of its parts that do not
// fit into shared memory are in `scratch`; 2: the entries are there too.
template <typename T, int TEAM, int E, int PLACE, bool DIVERGENCE>
__global__ void __launch_bounds__(TEAM, 1) far_rows(
    const int* __restrict__ order, int count, const long long* __restrict__ indptr, const int* __restrict__ indices,
    const T* __restrict__ data, const T* __restrict__ other, const T* __restrict__ begin, const T* __restrict__ old,
    const double* __restrict__ sums, int k, int observed, double lasso, T ridge, T floor, int sweeps, T share,
    const double* push,
    int score, T* fresh, T* ahead, double* values, double* violations, T* scratch, long long slice, int area) {
  constexpr bool ONE = PLACE == 1;
  constexpr int LANES = 32, WARPS = TEAM / LANES, SEVERAL = Several<T>::count;
  extern __shared__ __align__(16) unsigned char memory[];
  const int member = threadIdx.x, lane = member % LANES, warp = member / LANES;
  double* sums_of_warps = reinterpret_cast<double*>(memory);  // 2 WARPS
  T* slots = reinterpret_cast<T*>(sums_of_warps + 2 * WARPS);  // 4 WARPS: pull and curve, two turns
  T* own = slots + 4 * WARPS;
  T* costs = own + k;
  T* pulls = costs + k;  // WARPS k
  T* totals = pulls + WARPS * k;  // WARPS k
  int* active = reinterpret_cast<int*>(totals + WARPS * k);  // k + 1, the last their number
  T* near_parts = reinterpret_cast<T*>(active + (k + 2) / 2 * 2);  // area
  T* far_parts = scratch + (long long)blockIdx.x * slice;

  for (long long turn_of = blockIdx.x; turn_of < count; turn_of += gridDim.x) {
    const long long row = order[turn_of], start = indptr[row];
    const int size = int(indptr[row + 1] - start), stride = size | 1, fit = smaller(k, area / stride);
    auto part_of = [&](int t) -> T* {
      return t < fit ? near_parts + t * stride : far_parts + (long long)(t - fit) * stride;
    };
    T* far_x = far_parts + (long long)(k - fit) * stride;
    T* far_model = far_x + stride;
    T* far_inverse = far_model + stride;
    T x[E], model[E], inverse[E];

    for (int t = member; t < k; t += TEAM) own[t] = begin[row * k + t];

    // Gather
    const unsigned chunks = k / SEVERAL;
    #pragma unroll 4
    for (unsigned long long i = member; i < (unsigned long long)size * chunks; i += TEAM) {
      const unsigned q = unsigned(i / chunks), c = unsigned(i - (unsigned long long)q * chunks) * SEVERAL;
      T few[SEVERAL];
      spread(__ldg(reinterpret_cast<const typename Several<T>::type*>(
          other + (long long)__ldg(indices + start + q) * k + c)), few, 1);
      #pragma unroll
      for (int s = 0; s < SEVERAL; ++s) part_of(c + s)[q] = few[s];
    }
    __syncthreads();

    // Model, and the smallest positive entry
    T least = T(__int_as_float(0x7f800000));
    if constexpr (ONE) {
      #pragma unroll
      for (int e = 0; e < E; ++e) {
        const int q = member + e * TEAM;
        x[e] = q < size ? __ldg(data + start + q) : T(0);
        model[e] = floor;
        if (x[e] > T(0)) least = smaller(least, x[e]);
      }
      for (int t = 0; t < k; ++t) {
        const T* part = part_of(t);
        const T weight = own[t];
        #pragma unroll
        for (int e = 0; e < E; ++e) {
          const int q = member + e * TEAM;
          if (q < size) model[e] += weight * part[q];
        }
      }
      #pragma unroll
      for (int e = 0; e < E; ++e) {
        if (member + e * TEAM >= size) model[e] = DIVERGENCE ? T(1) : T(0);
        inverse[e] = DIVERGENCE ? inverse_of(model[e]) : T(0);
      }
    } else {
      for (int q = member; q < size; q += TEAM) {
        const T entry = __ldg(data + start + q);
        T fitted = floor;
        for (int t = 0; t < k; ++t) fitted += own[t] * part_of(t)[q];
        far_x[q] = entry;
        far_model[q] = fitted;
        far_inverse[q] = DIVERGENCE ? inverse_of(fitted) : T(0);
        if (entry > T(0)) least = smaller(least, entry);
      }
    }

    // Slopes of all coordinates
    for (int t = 0; t < k; ++t) {
      const T* part = part_of(t);
      T pull = 0, total = 0;
      if constexpr (ONE) {
        #pragma unroll
        for (int e = 0; e < E; ++e) {
          const int q = member + e * TEAM;
          const T held = q < size ? part[q] : T(0);
          pull += (DIVERGENCE ? x[e] * inverse[e] : x[e] - model[e]) * held;
          total += held;
        }
      } else {
        for (int q = member; q < size; q += TEAM) {
          pull += (DIVERGENCE ? far_x[q] * far_inverse[q] : far_x[q] - far_model[q]) * part[q];
          total += part[q];
        }
      }
      pull = sum_over<LANES>(pull);
      if (observed) total = sum_over<LANES>(total);
      if (lane == 0) { pulls[t * WARPS + warp] = pull; totals[t * WARPS + warp] = total; }
    }
    if constexpr (DIVERGENCE) {
      least = least_over<LANES>(least);
      if (lane == 0) slots[warp] = least;
    }
    __syncthreads();
    if constexpr (DIVERGENCE) {
      for (int w = 0; w < WARPS; ++w) least = smaller(least, slots[w]);
    }
    const T concord = DIVERGENCE ? inverse_of(least) : T(0);

    // Those that can move
    int number = 0;
    if (warp == 0) {
      double violation = 0;
      for (int base = 0; base < k; base += LANES) {
        const int t = base + lane;
        bool moves = false;
        if (t < k) {
          T pull = 0, total = 0;
          for (int w = 0; w < WARPS; ++w) { pull += pulls[t * WARPS + w]; total += totals[t * WARPS + w]; }
          const T cost = T(lasso) + (DIVERGENCE ? (observed ? total : T(sums[t])) : T(0));
          const T weight = own[t], slope = pull - cost - ridge * weight;
          costs[t] = cost;
          violation += weight > T(0) ? modulus(slope) : larger(slope, T(0));
          moves = weight > T(0) || slope > T(0);
        }
        const unsigned bits = __ballot_sync(0xffffffffu, moves);
        if (moves) active[number + __popc(bits & ((1u << lane) - 1u))] = t;
        number += __popc(bits);
      }
      violation = sum_over<LANES>(violation);
      if (lane == 0) {
        active[k] = number;
        violations[row] = violation;
      }
    }
    __syncthreads();
    number = active[k];

    // Sweeps
    T first = 0;
    int turn = 0;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      T change = 0;
      for (int a = 0; a < number; ++a) {
        const int t = active[a];
        const T* part = part_of(t);
        const T weight = own[t];
        T pull = 0, curve = 0, held[E];
        if constexpr (ONE) {
          #pragma unroll
          for (int e = 0; e < E; ++e) {
            const int q = member + e * TEAM;
            held[e] = q < size ? part[q] : T(0);
          }
          #pragma unroll
          for (int e = 0; e < E; ++e) {
            if constexpr (DIVERGENCE) {
              const T ratio = held[e] * inverse[e], scaled = x[e] * ratio;
              pull += scaled;
              curve += scaled * ratio;
            } else {
              pull += (x[e] - model[e]) * held[e];
              curve += held[e] * held[e];
            }
          }
        } else {
          for (int q = member; q < size; q += TEAM) {
            if constexpr (DIVERGENCE) {
              const T ratio = part[q] * far_inverse[q], scaled = far_x[q] * ratio;
              pull += scaled;
              curve += scaled * ratio;
            } else {
              pull += (far_x[q] - far_model[q]) * part[q];
              curve += part[q] * part[q];
            }
          }
        }
        pull = sum_over<LANES>(pull);
        curve = sum_over<LANES>(curve);
        // Two turns: who is ahead writes where nobody reads any more.
        T* slot = slots + turn * 2 * WARPS;
        if (lane == 0) { slot[2 * warp] = pull; slot[2 * warp + 1] = curve; }
        __syncthreads();
        pull = curve = 0;
        #pragma unroll
        for (int w = 0; w < WARPS; ++w) { pull += slot[2 * w]; curve += slot[2 * w + 1]; }
        turn ^= 1;
        T slope, move;
        newton<T, DIVERGENCE>(pull, curve, weight, costs[t], ridge, concord, slope, move);
        move = larger(move, -weight);
        const T next = weight + move;
        if (next == weight) continue;  // below rounding
        own[t] = next;  // by all threads, so that each sees it without a meeting
        change += modulus(slope * move);
        if constexpr (ONE) {
          #pragma unroll
          for (int e = 0; e < E; ++e) {
            model[e] = larger(model[e] + move * held[e], floor);
            if constexpr (DIVERGENCE) inverse[e] = inverse_of(model[e]);
          }
        } else {
          for (int q = member; q < size; q += TEAM) {
            const T fitted = larger(far_model[q] + move * part[q], floor);
            far_model[q] = fitted;
            if constexpr (DIVERGENCE) far_inverse[q] = inverse_of(fitted);
          }
        }
      }
      if (sweep == 0) first = change;
      if (!(change > share * first)) break;
    }
    __syncthreads();

    if (score) {
      double value = 0;
      auto add = [&](T entry, T fitted) {
        if constexpr (DIVERGENCE) {
          if (entry > T(0)) value -= double(entry) * double(logarithm(fitted));
        } else {
          const double rest = double(entry) - double(fitted);
          value += 0.5 * rest * rest;
        }
      };
      if constexpr (ONE) {
        #pragma unroll
        for (int e = 0; e < E; ++e) add(x[e], model[e]);
      } else {
        for (int q = member; q < size; q += TEAM) add(far_x[q], far_model[q]);
      }
      for (int t = member; t < k; t += TEAM) {
        const double weight = own[t];
        const double cost = DIVERGENCE && !observed ? lasso + sums[t] : double(costs[t]);
        value += weight * (cost + 0.5 * double(ridge) * weight);
      }
      value = sum_over<LANES>(value);
      if (lane == 0) sums_of_warps[warp] = value;
      __syncthreads();
      if (member == 0) {
        for (int w = 1; w < WARPS; ++w) value += sums_of_warps[w];
        values[row] = value;
      }
    }
    for (int t = member; t < k; t += TEAM) {
      const T weight = own[t];
      fresh[row * k + t] = weight;
      ahead[row * k + t] = larger(weight + T(*push) * (weight - old[row * k + t]), T(0));
    }
    __syncthreads();
  }
}
"""

_GIVEN = r"""
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
    // The group has enough, or continues, as one.
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
"""


def seen(array: Any) -> Any:
    """The array as CuPy sees it, C-ordered."""
    return require("cupy", purpose="NMF on a GPU").ascontiguousarray(seen_by_cupy(array))


@dataclass(frozen=True)
class Class:
    """Rows of about the same length, and the team that takes them."""

    order: Any
    """Their numbers, as int32 on the device; long ones first."""
    longest: int
    team: int
    entries: int
    """Entries in the registers of a thread."""
    place: int
    """0: all in registers and shared memory, 1: some parts elsewhere, 2: the entries too."""
    team_bytes: int
    area: int
    """Numbers of shared memory for parts."""


def padded(k: int, itemsize: int) -> int:
    """Columns of a factor whose rows are read 16 bytes at a time."""
    several = 16 // itemsize
    return -(-k // several) * several


def classes_of(indptr: Any, k: int, itemsize: int) -> list[Class]:
    """The rows of a CSR matrix by their lengths, for factors with k columns; made once for all steps."""
    cupy = require("cupy", purpose="NMF on a GPU")
    with indptr.device:
        lengths = cupy.diff(indptr)
        most = _metadata(int(indptr.device.id))[1]
        found, low = [], -1
        for team, entries, place, high in limits(int(lengths.max()), k, itemsize, most):
            order = cupy.flatnonzero((lengths > low) & (lengths <= high))
            low = high
            if not order.size:
                continue
            if team > 32:
                order = order[cupy.argsort(-lengths[order])]
            longest = int(lengths[order].max())
            size, area = _layout(team, place, longest, k, itemsize, most)
            found.append(Class(order.astype(cupy.int32), longest, team, entries, place, size, area))
    return found


def limits(longest: int, k: int, itemsize: int, most: int) -> list[tuple[int, int, int, int]]:
    """(threads, entries of each, place, longest row) of the teams that the rows need, shortest rows first."""
    part = padded(k, itemsize) * itemsize
    result = []
    for team, entries in NEAR_TEAMS:
        whole = team * entries
        if team > 32:
            whole = min(whole, (most - part - _near_bytes(team, k, itemsize)) // part)
        elif _layout(team, 0, whole, k, itemsize, most)[0] * (32 // team) > min(_WARP_BYTES, most - part):
            continue
        result.append((team, entries, 0, whole))
    result += [(*FAR_TEAM, 1, FAR_TEAM[0] * FAR_TEAM[1]), (*LONGEST, 2, max(longest, 1))]
    needed: list[tuple[int, int, int, int]] = []
    for limit in result:
        low = needed[-1][3] if needed else -1
        if low < limit[3] and low < longest:
            needed.append(limit)
    return needed


def _near_bytes(team: int, k: int, itemsize: int) -> int:
    """Bytes of shared memory of a team of `near_rows` in addition to its parts."""
    warps, k = max(1, team // 32), padded(k, itemsize)
    return warps * (16 + 4 * itemsize) + itemsize * k * (3 + 2 * warps) + -(-k * itemsize // 256) * 16


def _far_bytes(team: int, k: int, itemsize: int) -> int:
    """Bytes of shared memory of a team of `far_rows` in addition to its parts."""
    warps, k = team // 32, padded(k, itemsize)
    return 16 * warps + itemsize * (4 * warps + k * (2 + 2 * warps)) + 4 * ((k + 2) // 2 * 2)


def _layout(team: int, place: int, longest: int, k: int, itemsize: int, most: int) -> tuple[int, int]:
    """(bytes of a team, numbers for its parts)."""
    if place == 0:
        area = padded(k, itemsize) * longest
        return _near_bytes(team, k, itemsize) + itemsize * area, area
    fixed = _far_bytes(team, k, itemsize)
    area = min(padded(k, itemsize) * (longest | 1), (most - fixed) // itemsize)
    return fixed + itemsize * area, area


def entry_rows(
    classes: list[Class], csr: Any, other: Any, begin: Any, old: Any, sums: Any, *, divergence: bool, observed: bool,
    lasso: float, ridge: float, floor: float, sweeps: int, share: float, extrapolation: Any, score: bool,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """(new, ahead, [objective if `score`, projected gradients before the first step]) for all rows, as CuPy arrays.

    `csr` has data, indices (int32) and indptr (int64); the factors are C-ordered, in the dtype of the data; `sums` is
    float64: what the entries that are not stored cost. `extrapolation` is an array of one float64.
    """
    cupy = require("cupy", purpose="NMF on a GPU")
    rows, given = begin.shape
    itemsize, real = csr.data.dtype.itemsize, csr.data.dtype.type
    k = padded(given, itemsize)
    if divergence and itemsize == 4:
        floor = max(floor, 2.0**-126)  # smaller numbers are nothing to the kernels
    with csr.data.device:
        if k != given:
            # Coordinates of zeros: nothing pulls at them, they stay where they are.
            other, begin, old = (cupy.pad(factor, ((0, 0), (0, k - given))) for factor in (other, begin, old))
            sums = cupy.pad(sums, (0, k - given))
        new, ahead = cupy.empty_like(begin), cupy.empty_like(begin)
        found = cupy.zeros((2, rows))
        processors = _metadata(int(csr.data.device.id))[0]
        options = (
            np.int32(observed), np.float64(lasso), real(ridge), real(floor), np.int32(sweeps), real(share),
            extrapolation, np.int32(score), new, ahead, found[0], found[1],
        )  # fmt: skip
        for kind in classes:
            data = kind.order, np.int32(kind.order.size), csr.indptr, csr.indices, csr.data, other, begin, old, sums
            threads = max(32, kind.team)
            shared = kind.team_bytes * (threads // kind.team) + (k * itemsize if kind.place == 0 else 0)
            blocks = -(-int(kind.order.size) * kind.team // threads)
            blocks = min(blocks, processors * max(1, min(32, 2048 // threads, 228 * 1024 // (shared + 1024))))
            if kind.place == 0:
                kernel = _near_kernel(itemsize, kind.team, kind.entries, k, divergence)
                arguments: tuple[Any, ...] = (*data, *options, np.int32(kind.team_bytes))
            else:
                kernel = _far_kernel(itemsize, kind.team, kind.entries, kind.place, divergence)
                slice_ = _slice(kind, k)
                blocks = max(1, min(blocks, _SCRATCH_BYTES // (slice_ * itemsize)))
                scratch = cupy.empty(blocks * slice_, csr.data.dtype)
                arguments = (*data, np.int32(k), *options, scratch, np.int64(slice_), np.int32(kind.area))
            if shared > 48 * 1024:
                kernel.max_dynamic_shared_size_bytes = shared
            kernel.preferred_shared_memory_carveout = 100
            kernel((blocks,), (threads,), arguments, shared_mem=shared)
        if k != given:
            new, ahead = (cupy.ascontiguousarray(factor[:, :given]) for factor in (new, ahead))
        return new, ahead, found.sum(axis=1)


def _slice(kind: Class, k: int) -> int:
    """Numbers that a block keeps elsewhere."""
    stride = kind.longest | 1
    # Of shorter rows more coordinates fit, rounded down: one more than the longest needs.
    return (k - min(k, kind.area // stride) + 1 + (3 if kind.place == 2 else 0)) * stride


def given_rows(
    products: Any, begin: Any, old: Any, gram: Any, inverse: Any, *, lasso: float, sweeps: int, share: float,
    extrapolation: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """(new, ahead, [objective, projected gradients met]) for given products A other (rows x k), as CuPy arrays."""
    cupy = require("cupy", purpose="NMF on a GPU")
    rows, k = begin.shape
    with begin.device:
        new, ahead = cupy.empty_like(begin), cupy.empty_like(begin)
        found = cupy.empty((2, rows))
        edges = _groups(rows, int(begin.device.id))
        kernel = _given_kernel(begin.dtype.itemsize, products.dtype.itemsize, 1 << max(0, (k - 1) // 32).bit_length())
        kernel(
            (edges.shape[0],), (512,),
            (
                edges, products, begin, old, gram, inverse, np.int32(k), np.float64(lasso), np.int32(sweeps),
                np.float64(share), extrapolation, new, ahead, found[0], found[1],
            ),
        )  # fmt: skip
        return new, ahead, found.sum(axis=1)


def groups(rows: int) -> np.ndarray:
    """(first row, end) of the groups of 64 that the processor makes of the same rows."""
    edges = np.unique(np.linspace(0, rows, min(_PIECES, rows) + 1).astype(int)).tolist()
    parts = []
    for start, stop in itertools.pairwise(edges):
        firsts = np.arange(start, stop, _GROUP)
        parts.append(np.stack([firsts, np.minimum(firsts + _GROUP, stop)], axis=1))
    return np.concatenate(parts).astype(np.int32)


@lru_cache(maxsize=8)
def _metadata(device: int) -> tuple[int, int]:
    """(multiprocessors, most bytes of shared memory of a block)."""
    known = require("cupy", purpose="NMF on a GPU").cuda.Device(device).attributes
    return int(known["MultiProcessorCount"]), int(known["MaxSharedMemoryPerBlockOptin"])


@lru_cache(maxsize=8)
def _groups(rows: int, device: int) -> Any:
    return require("cupy", purpose="NMF on a GPU").asarray(groups(rows))


@lru_cache(maxsize=64)
def _near_kernel(itemsize: int, team: int, entries: int, k: int, divergence: bool) -> Any:
    real, chunks = ("float", k // 4) if itemsize == 4 else ("double", k // 2)
    name = f"near_rows<{real}, {team}, {entries}, {chunks}, {str(divergence).lower()}>"
    return _compiled(_STEPS + NEAR, name)


@lru_cache(maxsize=64)
def _far_kernel(itemsize: int, team: int, entries: int, place: int, divergence: bool) -> Any:
    real = "float" if itemsize == 4 else "double"
    return _compiled(_STEPS + _FAR, f"far_rows<{real}, {team}, {entries}, {place}, {str(divergence).lower()}>")


@lru_cache(maxsize=16)
def _given_kernel(itemsize: int, products: int, indices: int) -> Any:
    real, product = ("float" if size == 4 else "double" for size in (itemsize, products))
    return _compiled(_GIVEN, f"given_rows<{real}, {product}, {indices}, 16>")


def _compiled(source: str, name: str) -> Any:
    cupy = require("cupy", purpose="NMF on a GPU")
    return cupy.RawModule(code=source, options=("-std=c++17", "--ftz=true"), name_expressions=[name]).get_function(name)
