"""The row steps of NMF on a GPU: the mathematics of `nmf_entries` and `nmf_frobenius`, a row in the hands of a team.

`entry_rows`: a team of 16 lanes up to 512 threads, by the number of entries, gathers the parts that a row needs once,
coordinate by coordinate, into shared memory (what does not fit, into a slice that stays in the L2 cache), and sweeps
over the coordinates with x, the model and its inverse in registers. `given_rows`: a warp holds some rows of a group of
64, a coordinate or more in each lane; groups are those of the processor, since a group decides when it has enough.
Arithmetic over entries is in the precision of the data, sums over rows are in double precision and in a fixed order.
CUDA C++ for CuPy's RawModule, compiled when first used, one form at a time.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from eckart.errors import require

TEAMS: tuple[tuple[int, int], ...] = ((16, 2), (16, 4), (32, 4), (32, 8), (128, 4), (256, 8))
"""(threads of a team, entries of each thread): a row goes to the first team that can hold it."""
LONGEST = (512, 4)
"""The team of rows that no team can hold in registers: its entries are in memory."""
_THREADS = 64
"""Of a block of small teams."""
_WARP_BYTES = 100_000
"""A warp whose teams keep more than this would be nearly alone on its multiprocessor: a whole block does better."""
_SCRATCH_BYTES = 2**31
_GROUP = 64
_PIECES = 8

_ENTRIES = r"""
// Within two units of the last place, in one instruction or two.
__device__ __forceinline__ float quotient(float a, float b) { return __fdividef(a, b); }
__device__ __forceinline__ double quotient(double a, double b) { return a / b; }
template <typename T> __device__ __forceinline__ T inverse_of(T v) { return quotient(T(1), v); }
__device__ __forceinline__ float logarithm(float v) { return logf(v); }
__device__ __forceinline__ double logarithm(double v) { return log(v); }
__device__ __forceinline__ float root(float v) { return sqrtf(v); }
__device__ __forceinline__ double root(double v) { return sqrt(v); }
template <typename T> __device__ __forceinline__ T larger(T a, T b) { return a > b ? a : b; }
template <typename T> __device__ __forceinline__ T smaller(T a, T b) { return a < b ? a : b; }
template <typename T> __device__ __forceinline__ T modulus(T a) { return a < T(0) ? -a : a; }

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
__device__ __forceinline__ void newton(T pull, T curve, T weight, T cost, T ridge, T least, T& slope, T& move) {
  slope = pull - cost - ridge * weight;
  curve += ridge;
  if constexpr (!DIVERGENCE) {
    move = curve > T(0) ? quotient(slope, curve) : T(0);
    return;
  }
  if (!(curve > T(0))) { move = slope < T(0) ? -weight : T(0); return; }
  move = quotient(slope, curve);
  // Newton decrement up to which a full step cannot raise a self-concordant function (Hien and Gillis, 2021): its
  // square is move^2 curve / least = slope move / least, with the smallest positive entry of the row.
  if (move < T(0) && slope * move > T(0.683802 * 0.683802) * least) {
    // A multiplicative update never raises the objective either: the longer of the two safe steps.
    const T taught = weight * (quotient(pull, cost + ridge * weight) - T(1));
    const T damped = quotient(T(-1), quotient(T(-1), move) + root(quotient(curve, least)));
    move = smaller(damped, taught);
  }
}

// PLACE 0: the entries of a row are in registers, E in each thread, and all of its parts in shared memory;
// 1: what does not fit there is in `scratch`; 2: the entries are there too.
template <typename T, int TEAM, int E, int PLACE, bool DIVERGENCE>
__global__ void __launch_bounds__(TEAM > 128 ? TEAM : 128, 1) entry_rows(
    const int* __restrict__ order, int count, const long long* __restrict__ indptr, const int* __restrict__ indices,
    const T* __restrict__ data, const T* __restrict__ other, const T* __restrict__ begin, const T* __restrict__ old,
    const double* __restrict__ sums, int k, int observed, double lasso, double ridge_, double floor_, int sweeps,
    double share_, double push, int score, T* fresh, T* ahead, double* values, double* violations,
    T* scratch, long long slice, int team_bytes, int area, int widest) {
  constexpr bool ONE = PLACE < 2;
  constexpr int LANES = TEAM < 32 ? TEAM : 32, WARPS = TEAM / LANES;
  constexpr unsigned ALL = 0xffffffffu, TEAM_BITS = LANES == 32 ? ALL : (1u << (LANES % 32)) - 1u;
  extern __shared__ __align__(16) unsigned char memory[];
  const int member = threadIdx.x % TEAM, lane = member % LANES, warp = member / LANES;
  const int teams = blockDim.x / TEAM, team = threadIdx.x / TEAM, shift = threadIdx.x % 32 - lane;
  double* sums_of_warps = reinterpret_cast<double*>(memory + (long long)team * team_bytes);  // 2 WARPS
  T* slots = reinterpret_cast<T*>(sums_of_warps + 2 * WARPS);  // 4 WARPS: pull and curve, two turns
  T* own = slots + 4 * WARPS;
  T* costs = own + k;
  T* pulls = costs + k;  // WARPS k
  T* totals = pulls + WARPS * k;  // WARPS k
  int* active = reinterpret_cast<int*>(totals + WARPS * k);  // k + 1, the last their number
  T* near_parts = reinterpret_cast<T*>(active + (k + 2) / 2 * 2);  // area
  T* far_parts = scratch + (long long)blockIdx.x * slice;
  const T ridge = T(ridge_), floor = T(floor_), share = T(share_);

  // All teams of a warp go through the loop together.
  for (long long first_row = (long long)blockIdx.x * teams; first_row < count;
       first_row += (long long)gridDim.x * teams) {
    const bool given = first_row + team < count;
    const long long row = given ? order[first_row + team] : 0;
    const long long start = given ? indptr[row] : 0;
    const int size = given ? int(indptr[row + 1] - start) : 0;
    const int stride = TEAM > 32 ? size | 1 : widest;
    const int fit = PLACE ? smaller(k, area / stride) : k;
    auto part_of = [&](int t) -> T* {
      if constexpr (PLACE == 0) return near_parts + t * stride;
      else return t < fit ? near_parts + t * stride : far_parts + (long long)(t - fit) * stride;
    };
    T* far_x = far_parts + (long long)(k - fit) * stride;
    T* far_model = far_x + stride;
    T* far_inverse = far_model + stride;
    T x[E], model[E], inverse[E];

    for (int t = member; t < k; t += TEAM) own[t] = given ? begin[row * k + t] : T(0);

    // Gather
    constexpr int SEVERAL = Several<T>::count;
    if (k % SEVERAL == 0 && size < (1 << 24)) {
      const unsigned chunks = k / SEVERAL, all = size * chunks;
      #pragma unroll 4
      for (unsigned i = member; i < all; i += TEAM) {
        const unsigned q = i / chunks, c = (i - q * chunks) * SEVERAL;
        const auto v = __ldg(reinterpret_cast<const typename Several<T>::type*>(
            other + (long long)__ldg(indices + start + q) * k + c));
        if (PLACE == 0 || c + SEVERAL <= fit) {
          spread(v, near_parts + c * stride + q, stride);
        } else {
          T few[SEVERAL];
          spread(v, few, 1);
          #pragma unroll
          for (int s = 0; s < SEVERAL; ++s) part_of(c + s)[q] = few[s];
        }
      }
    } else {
      const unsigned long long all = (unsigned long long)size * k;
      for (unsigned long long i = member; i < all; i += TEAM) {
        const unsigned q = unsigned(i / k), t = unsigned(i - (unsigned long long)q * k);
        part_of(t)[q] = __ldg(other + (long long)__ldg(indices + start + q) * k + t);
      }
    }
    meet<TEAM>();

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
      if (TEAM > 32 && lane == 0) slots[warp] = least;
    }
    meet<TEAM>();
    if constexpr (DIVERGENCE && TEAM > 32) {
      for (int w = 0; w < WARPS; ++w) least = smaller(least, slots[w]);
    }

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
        const unsigned bits = (__ballot_sync(ALL, moves) >> shift) & TEAM_BITS;
        if (moves) active[number + __popc(bits & ((1u << lane) - 1u))] = t;
        number += __popc(bits);
      }
      violation = sum_over<LANES>(violation);
      if (lane == 0) {
        active[k] = number;
        if (given) violations[row] = violation;
      }
    }
    meet<TEAM>();
    if constexpr (TEAM > 32) number = active[k];

    // Sweeps
    int most = number;
    if constexpr (TEAM < 32) {
      #pragma unroll
      for (int o = LANES; o < 32; o *= 2) most = larger(most, __shfl_xor_sync(ALL, most, o));
    }
    bool live = number > 0;
    T first = 0;
    int turn = 0;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      T change = 0;
      for (int a = 0; a < most; ++a) {
        const bool on = TEAM >= 32 || (live && a < number);
        const int t = on ? active[a] : 0;
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
        if constexpr (TEAM > 32) {
          // Two turns: who is ahead writes where nobody reads any more.
          T* slot = slots + turn * 2 * WARPS;
          if (lane == 0) { slot[2 * warp] = pull; slot[2 * warp + 1] = curve; }
          __syncthreads();
          pull = curve = 0;
          #pragma unroll
          for (int w = 0; w < WARPS; ++w) { pull += slot[2 * w]; curve += slot[2 * w + 1]; }
          turn ^= 1;
        }
        T slope, move;
        newton<T, DIVERGENCE>(pull, curve, weight, costs[t], ridge, least, slope, move);
        move = on ? larger(move, -weight) : T(0);
        const T next = weight + move;
        if (next == weight) move = 0;  // below rounding
        if (TEAM < 32 ? !__any_sync(ALL, move != T(0)) : move == T(0)) continue;
        if (move != T(0)) own[t] = next;  // by all threads, so that each sees it without a meeting
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
      live = live && change > share * first;
      if (TEAM < 32 ? !__any_sync(ALL, live) : !live) break;
    }
    meet<TEAM>();

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
        value += weight * (cost + 0.5 * ridge_ * weight);
      }
      value = sum_over<LANES>(value);
      if constexpr (TEAM > 32) {
        if (lane == 0) sums_of_warps[warp] = value;
        __syncthreads();
        if (member == 0) for (int w = 1; w < WARPS; ++w) value += sums_of_warps[w];
      }
      if (member == 0 && given) values[row] = value;
    }
    if (given) {
      for (int t = member; t < k; t += TEAM) {
        const T weight = own[t];
        fresh[row * k + t] = weight;
        ahead[row * k + t] = larger(weight + T(push) * (weight - old[row * k + t]), T(0));
      }
    }
    meet<TEAM>();
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
    int sweeps, double share, double push, T* fresh, T* ahead, double* values, double* violations) {
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
    // The group has enough, or goes on, as one.
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
      const double onward = own[r][j] + push * (own[r][j] - double(old[place]));
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
    cupy = require("cupy", purpose="NMF on a GPU")
    return cupy.ascontiguousarray(cupy.asarray(array))


def given_back(array: Any, like: Any) -> Any:
    """A CuPy array in the library of `like`."""
    if type(like).__module__.partition(".")[0] == "cupy":
        return array
    return require("torch").as_tensor(array, device=like.device)


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


def classes_of(indptr: Any, k: int, itemsize: int) -> list[Class]:
    """The rows of a CSR matrix by their lengths, for factors with k columns; made once for all steps."""
    cupy = require("cupy", purpose="NMF on a GPU")
    with indptr.device:
        lengths = cupy.diff(indptr)
        most = _about(int(indptr.device.id))[1]
        found, low = [], -1
        for team, entries, place, high in limits(int(lengths.max()), k, itemsize, most):
            order = cupy.flatnonzero((lengths > low) & (lengths <= high))
            low = high
            if not order.size:
                continue
            if team > 32:
                order = order[cupy.argsort(-lengths[order])]
            longest = int(lengths[order].max())
            size, area = _layout(team, longest, k, itemsize, most)
            found.append(Class(order.astype(cupy.int32), longest, team, entries, place, size, area))
    return found


def limits(longest: int, k: int, itemsize: int, most: int) -> list[tuple[int, int, int, int]]:
    """(threads, entries of each, place, longest row) of the teams that the rows need, shortest rows first."""
    result = []
    for team, entries in TEAMS:
        whole = team * entries
        if team <= 32:
            if _layout(team, whole, k, itemsize, most)[0] * (32 // team) <= _WARP_BYTES:
                result.append((team, entries, 0, whole))
            continue
        near = ((most - _fixed(team, k, itemsize)) // itemsize // k - 1) // 2 * 2 + 1
        if near > 0:
            result.append((team, entries, 0, min(whole, near)))
        if near < whole:
            result.append((team, entries, 1, whole))
    result.append((*LONGEST, 2, max(longest, 1)))
    needed: list[tuple[int, int, int, int]] = []
    for limit in result:
        low = needed[-1][3] if needed else -1
        if low < limit[3] and low < longest:
            needed.append(limit)
    return needed


def _fixed(team: int, k: int, itemsize: int) -> int:
    """Bytes of shared memory of a team beside its parts."""
    warps = max(1, team // 32)
    return 16 * warps + itemsize * (4 * warps + k * (2 + 2 * warps)) + 4 * ((k + 2) // 2 * 2)


def _layout(team: int, longest: int, k: int, itemsize: int, most: int) -> tuple[int, int]:
    """(bytes of a team, numbers for its parts)."""
    fixed = _fixed(team, k, itemsize)
    area = min(k * (longest | 1), (most - fixed) // itemsize) if team > 32 else k * (longest | 1)
    size = fixed + itemsize * area
    if team <= 32:
        # Teams of one warp read from different banks.
        size = -(-(size - 4 * team) // 128) * 128 + 4 * team
    return size, area


def entry_rows(
    classes: list[Class], csr: Any, other: Any, begin: Any, old: Any, sums: Any, *, divergence: bool, observed: bool,
    lasso: float, ridge: float, floor: float, sweeps: int, share: float, push: float, score: bool,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """(new, ahead, [objective if `score`, projected gradients before the first step]) for all rows, as CuPy arrays.

    `csr` has data, indices (int32) and indptr (int64); the factors are C-ordered, in the dtype of the data; `sums` is
    float64: what the entries that are not stored cost.
    """
    cupy = require("cupy", purpose="NMF on a GPU")
    rows, k = begin.shape
    with csr.data.device:
        new, ahead = cupy.empty_like(begin), cupy.empty_like(begin)
        found = cupy.zeros((2, rows))
        processors = _about(int(csr.data.device.id))[0]
        for kind in classes:
            kernel = _entry_kernel(csr.data.dtype.itemsize, kind.team, kind.entries, kind.place, divergence)
            threads, blocks, scratch, slice_ = _launch(kind, k, csr.data.dtype, processors)
            shared = kind.team_bytes * (threads // kind.team)
            if shared > 48 * 1024:
                kernel.max_dynamic_shared_size_bytes = shared
            kernel.preferred_shared_memory_carveout = 100
            kernel(
                (blocks,), (threads,),
                (
                    kind.order, np.int32(kind.order.size), csr.indptr, csr.indices, csr.data, other, begin, old, sums,
                    np.int32(k), np.int32(observed), np.float64(lasso), np.float64(ridge), np.float64(floor),
                    np.int32(sweeps), np.float64(share), np.float64(push), np.int32(score), new, ahead, found[0],
                    found[1], scratch, np.int64(slice_), np.int32(kind.team_bytes), np.int32(kind.area),
                    np.int32(kind.longest | 1),
                ),
                shared_mem=shared,
            )  # fmt: skip
        return new, ahead, found.sum(axis=1)


def _launch(kind: Class, k: int, dtype: Any, processors: int) -> tuple[int, int, Any, int]:
    """(threads of a block, blocks, scratch, numbers of it for each block)."""
    cupy = require("cupy", purpose="NMF on a GPU")
    count = int(kind.order.size)
    if kind.team <= 32:
        # Few teams a block, so that what is left of the shared memory is small.
        teams = max(32 // kind.team, min(_THREADS // kind.team, 48 * 1024 // kind.team_bytes))
        teams = teams // (32 // kind.team) * (32 // kind.team)
        return teams * kind.team, -(-count // teams), cupy.empty(1, dtype), 0
    blocks = min(count, processors * max(1, min(2048 // kind.team, 228 * 1024 // (kind.team_bytes + 1024))))
    if kind.place == 0:
        return kind.team, blocks, cupy.empty(1, dtype), 0
    stride = kind.longest | 1
    # Of shorter rows more coordinates fit, rounded down: one more than the longest needs.
    slice_ = (k - min(k, kind.area // stride) + 1 + (3 if kind.place == 2 else 0)) * stride
    blocks = max(1, min(blocks, _SCRATCH_BYTES // (slice_ * np.dtype(dtype).itemsize)))
    return kind.team, blocks, cupy.empty(blocks * slice_, dtype), slice_


def given_rows(
    products: Any, begin: Any, old: Any, gram: Any, inverse: Any, *, lasso: float, sweeps: int, share: float,
    push: float,
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
                np.float64(share), np.float64(push), new, ahead, found[0], found[1],
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
def _about(device: int) -> tuple[int, int]:
    """(multiprocessors, most bytes of shared memory of a block)."""
    known = require("cupy", purpose="NMF on a GPU").cuda.Device(device).attributes
    return int(known["MultiProcessorCount"]), int(known["MaxSharedMemoryPerBlockOptin"])


@lru_cache(maxsize=8)
def _groups(rows: int, device: int) -> Any:
    return require("cupy", purpose="NMF on a GPU").asarray(groups(rows))


@lru_cache(maxsize=64)
def _entry_kernel(itemsize: int, team: int, entries: int, place: int, divergence: bool) -> Any:
    real = "float" if itemsize == 4 else "double"
    return _compiled(_ENTRIES, f"entry_rows<{real}, {team}, {entries}, {place}, {str(divergence).lower()}>")


@lru_cache(maxsize=16)
def _given_kernel(itemsize: int, products: int, places: int) -> Any:
    real, product = ("float" if size == 4 else "double" for size in (itemsize, products))
    return _compiled(_GIVEN, f"given_rows<{real}, {product}, {places}, 16>")


def _compiled(source: str, name: str) -> Any:
    cupy = require("cupy", purpose="NMF on a GPU")
    return cupy.RawModule(code=source, options=("-std=c++17",), name_expressions=[name]).get_function(name)
