// Rows of NMF on a GPU whose parts all fit into shared memory: after steps.cu.
//
// Each thread owns some entries of a row and keeps x, model and 1 / model in registers. The whole warp copies the parts
// of these entries into shared memory, 16 bytes per lane, with all copies in flight at once. The owner reads them back
// in chunks of 16 bytes (several coordinates) and sweeps over them in registers. Each entry starts at a different
// chunk, which avoids bank conflicts. The index, the entries and the column indices of the next row are read while the
// parts are being copied.
__device__ __forceinline__ void copy16(bool wanted, void* near, const void* far) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const unsigned place = unsigned(__cvta_generic_to_shared(near));
  asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %2, 0;\n @p cp.async.cg.shared.global [%0], [%1], 16;\n}"
               :: "r"(place), "l"(far), "r"(int(wanted)) : "memory");
#else
  if (wanted) *reinterpret_cast<float4*>(near) = *reinterpret_cast<const float4*>(far);
#endif
}
__device__ __forceinline__ void copied() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;\n cp.async.wait_group 0;" ::: "memory");
#endif
}

template <typename T> __device__ __forceinline__ void fetch(const T* source, T* few) {
  spread(*reinterpret_cast<const typename Several<T>::type*>(source), few, 1);
}
__device__ __forceinline__ void store(float* target, const float* few) {
  *reinterpret_cast<float4*>(target) = float4{few[0], few[1], few[2], few[3]};
}
__device__ __forceinline__ void store(double* target, const double* few) {
  *reinterpret_cast<double2*>(target) = double2{few[0], few[1]};
}

// Lanes with an even number get the sum of `even` over the team, those with an odd one that of `odd`.
template <int LANES, typename T> __device__ __forceinline__ T one_of_two(T even, T odd, int lane) {
  const bool second = lane & 1;
  T v = (second ? odd : even) + __shfl_xor_sync(0xffffffffu, second ? even : odd, 1);
  #pragma unroll
  for (int o = 2; o < LANES; o *= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}
// Lane l gets the sum of few[l % SEVERAL].
template <int LANES> __device__ __forceinline__ double one_of_several(const double* few, int lane) {
  return one_of_two<LANES>(few[0], few[1], lane);
}
template <int LANES> __device__ __forceinline__ float one_of_several(const float* few, int lane) {
  const bool second = lane & 1, later = lane & 2;
  const float a = (second ? few[1] : few[0]) + __shfl_xor_sync(0xffffffffu, second ? few[0] : few[1], 1);
  const float b = (second ? few[3] : few[2]) + __shfl_xor_sync(0xffffffffu, second ? few[2] : few[3], 1);
  float v = (later ? b : a) + __shfl_xor_sync(0xffffffffu, later ? a : b, 2);
  #pragma unroll
  for (int o = 4; o < LANES; o *= 2) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}
// The sum of the results of the warps of a team, in a fixed order.
template <int WARPS, typename T> __device__ __forceinline__ T sum_of(const T* found) {
  constexpr int SEVERAL = Several<T>::count;
  T v = 0;
  #pragma unroll
  for (int w = 0; w < WARPS; w += SEVERAL) {
    T few[SEVERAL];
    fetch(found + w, few);
    if constexpr (SEVERAL == 4) v += (few[0] + few[1]) + (few[2] + few[3]); else v += few[0] + few[1];
  }
  return v;
}

template <typename T, int TEAM, int E, int CHUNKS, bool DIVERGENCE>
__global__ void __launch_bounds__(TEAM > 32 ? TEAM : 32, 1) near_rows(
    const int* __restrict__ order, int count, const long long* __restrict__ indptr, const int* __restrict__ indices,
    const T* __restrict__ data, const T* __restrict__ other, const T* __restrict__ begin, const T* __restrict__ old,
    const double* __restrict__ sums, int observed, double lasso, T ridge, T floor, int sweeps, T share,
    const double* push,
    int score, T* fresh, T* ahead, double* values, double* violations, int team_bytes) {
  constexpr int SEVERAL = Several<T>::count, K = CHUNKS * SEVERAL;
  constexpr int LANES = TEAM < 32 ? TEAM : 32, WARPS = TEAM / LANES;
  constexpr unsigned ALL = 0xffffffffu, TEAM_BITS = LANES == 32 ? ALL : (1u << (LANES % 32)) - 1u;
  constexpr unsigned CHUNK_BITS = (1u << SEVERAL) - 1u;
  extern __shared__ __align__(16) unsigned char memory[];
  const int member = threadIdx.x % TEAM, lane = member % LANES, warp = member / LANES;
  const int teams = blockDim.x / TEAM, team = threadIdx.x / TEAM, shift = threadIdx.x % 32 - lane;
  T* nothing = reinterpret_cast<T*>(memory);  // K zeros, used as the parts of missing entries
  double* sums_of_warps = reinterpret_cast<double*>(nothing + K) + (long long)team * (team_bytes / 8);  // 2 WARPS
  T* slots = reinterpret_cast<T*>(sums_of_warps + 2 * WARPS);  // 4 WARPS: numerator and curvature, two buffers
  T* own = slots + 4 * WARPS;
  T* past = own + K;
  T* costs = past + K;
  T* pulls = costs + K;  // WARPS K
  T* totals = pulls + WARPS * K;  // WARPS K
  unsigned char* flags = reinterpret_cast<unsigned char*>(totals + WARPS * K);  // which entries of a chunk can change
  T* parts = reinterpret_cast<T*>(flags + (CHUNKS + 15) / 16 * 16);
  const int first_chunk = member % 8;  // the same for all its entries
  auto place_of = [&](int c) { return (c + first_chunk) % CHUNKS * SEVERAL; };
  for (int t = threadIdx.x; t < K; t += blockDim.x) nothing[t] = T(0);
  meet<TEAM>();

  // The next row
  bool given;
  long long row, start;
  int size, places[E];
  T coming[E];
  auto ask = [&](long long position) {
    given = position < count;
    row = given ? order[position] : 0;
    start = given ? indptr[row] : 0;
    size = given ? int(indptr[row + 1] - start) : 0;
    #pragma unroll
    for (int e = 0; e < E; ++e) {
      const int q = member + e * TEAM;
      places[e] = q < size ? __ldg(indices + start + q) : 0;
      coming[e] = q < size ? __ldg(data + start + q) : T(0);
    }
  };
  const long long step = (long long)gridDim.x * teams;
  ask((long long)blockIdx.x * teams + team);

  // All teams of a warp run the loop together.
  for (long long first_row = (long long)blockIdx.x * teams; first_row < count; first_row += step) {
    // Gather; a warp copies the parts of its own entries.
    #pragma unroll
    for (int e = 0; e < E; ++e) {
      #pragma unroll 8
      for (int j = 0; j < CHUNKS; ++j) {
        const int i = lane + j * LANES, m = i / CHUNKS, c = i % CHUNKS, q = warp * LANES + e * TEAM + m;
        const int source = __shfl_sync(ALL, places[e], shift + m);
        copy16(q < size, parts + q * K + (c + m % 8) % CHUNKS * SEVERAL,
               other + (long long)source * K + c * SEVERAL);
      }
    }
    const bool given_now = given;
    const long long row_now = row;
    for (int i = member * SEVERAL; i < K; i += TEAM * SEVERAL) {
      copy16(true, own + i, begin + row * K + i);  // the first row stands in for a missing one
      copy16(given, past + i, old + row * K + i);
    }
    T x[E], model[E], inverse[E], least = T(__int_as_float(0x7f800000));
    int mine[E];
    #pragma unroll
    for (int e = 0; e < E; ++e) {
      mine[e] = member + e * TEAM < size ? int(parts - nothing) + (member + e * TEAM) * K : 0;
      x[e] = coming[e];
      model[e] = member + e * TEAM < size ? floor : DIVERGENCE ? T(1) : T(0);
      if (x[e] > T(0)) least = smaller(least, x[e]);
    }
    ask(first_row + step + team);
    copied();
    meet<TEAM>();

    // Model
    for (int c = 0; c < CHUNKS; ++c) {
      T weights[SEVERAL];
      fetch(own + c * SEVERAL, weights);
      #pragma unroll
      for (int e = 0; e < E; ++e) {
        T part[SEVERAL];
        fetch(nothing + mine[e] + place_of(c), part);
        #pragma unroll
        for (int s = 0; s < SEVERAL; ++s) model[e] += weights[s] * part[s];
      }
    }
    #pragma unroll
    for (int e = 0; e < E; ++e) inverse[e] = DIVERGENCE ? inverse_of(model[e]) : T(0);

    // Slopes of all coordinates
    for (int c = 0; c < CHUNKS; ++c) {
      T pull[SEVERAL], total[SEVERAL];
      #pragma unroll
      for (int s = 0; s < SEVERAL; ++s) pull[s] = total[s] = T(0);
      #pragma unroll
      for (int e = 0; e < E; ++e) {
        T part[SEVERAL];
        fetch(nothing + mine[e] + place_of(c), part);
        const T pulled = DIVERGENCE ? x[e] * inverse[e] : x[e] - model[e];
        #pragma unroll
        for (int s = 0; s < SEVERAL; ++s) { pull[s] += pulled * part[s]; total[s] += part[s]; }
      }
      const T found = one_of_several<LANES>(pull, lane);
      if (lane < SEVERAL) pulls[(c * SEVERAL + lane) * WARPS + warp] = found;
      if (observed) {
        const T whole = one_of_several<LANES>(total, lane);
        if (lane < SEVERAL) totals[(c * SEVERAL + lane) * WARPS + warp] = whole;
      }
    }
    if constexpr (DIVERGENCE) {
      least = least_over<LANES>(least);
      if (TEAM > 32 && lane == 0) slots[warp] = least;
    }
    meet<TEAM>();
    if constexpr (DIVERGENCE && TEAM > 32) {
      #pragma unroll
      for (int w = 0; w < WARPS; ++w) least = smaller(least, slots[w]);
    }
    const T concord = DIVERGENCE ? inverse_of(least) : T(0);

    // Coordinates that can change
    if (warp == 0) {
      double violation = 0;
      #pragma unroll 4
      for (int base = 0; base < K; base += LANES) {
        const int t = base + lane;
        bool moves = false;
        if (t < K) {
          T pull = 0, total = 0;
          #pragma unroll
          for (int w = 0; w < WARPS; ++w) pull += pulls[t * WARPS + w];
          if (observed) for (int w = 0; w < WARPS; ++w) total += totals[t * WARPS + w];
          const T cost = T(lasso) + (DIVERGENCE ? (observed ? total : T(__ldg(sums + t))) : T(0));
          const T weight = own[t], slope = pull - cost - ridge * weight;
          costs[t] = cost;
          violation += weight > T(0) ? modulus(slope) : larger(slope, T(0));
          moves = weight > T(0) || slope > T(0);
        }
        const unsigned found = __ballot_sync(ALL, moves), bits = (found >> shift) & TEAM_BITS;
        unsigned ours = found;  // of any team of the warp
        #pragma unroll
        for (int o = LANES; o < 32; o *= 2) ours |= ours >> o;
        if (t < K && lane % SEVERAL == 0)
          flags[t / SEVERAL] = (bits >> lane & CHUNK_BITS) | (ours >> lane & CHUNK_BITS) << 4;
      }
      violation = sum_over<LANES>(violation);
      if (lane == 0 && given_now) violations[row_now] = violation;
    }
    meet<TEAM>();

    // Sweeps
    bool live = true;
    T first = 0;
    int turn = 0;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      T change = 0;
      #pragma unroll 1
      for (int c = 0; c < CHUNKS; ++c) {
        const unsigned code = flags[c], moving = live ? code : 0u;
        if (!(code >> 4)) continue;
        T part[E][SEVERAL], weights[SEVERAL], prices[SEVERAL];
        fetch(own + c * SEVERAL, weights);
        fetch(costs + c * SEVERAL, prices);
        #pragma unroll
        for (int e = 0; e < E; ++e) fetch(nothing + mine[e] + place_of(c), part[e]);
        #pragma unroll
        for (int s = 0; s < SEVERAL; ++s) {
          if (!(code >> (4 + s) & 1u)) continue;
          T pulls_of[2] = {T(0), T(0)}, curves_of[2] = {T(0), T(0)};  // two independent sums are faster than one
          #pragma unroll
          for (int e = 0; e < E; ++e) {
            if constexpr (DIVERGENCE) {
              const T ratio = part[e][s] * inverse[e], scaled = x[e] * ratio;
              pulls_of[e % 2] += scaled;
              curves_of[e % 2] += scaled * ratio;
            } else {
              pulls_of[e % 2] += (x[e] - model[e]) * part[e][s];
              curves_of[e % 2] += part[e][s] * part[e][s];
            }
          }
          T pull = pulls_of[0] + pulls_of[1], curve = curves_of[0] + curves_of[1];
          if constexpr (TEAM > 32) {
            // Two alternating buffers: a thread that runs ahead writes to the one that no thread reads any longer.
            T* slot = slots + turn * 2 * WARPS;
            const T half = one_of_two<LANES>(pull, curve, lane);
            if (lane < 2) slot[lane * WARPS + warp] = half;
            __syncthreads();
            pull = sum_of<WARPS>(slot);
            curve = sum_of<WARPS>(slot + WARPS);
            turn ^= 1;
          } else {
            pull = sum_over<LANES>(pull);
            curve = sum_over<LANES>(curve);
          }
          const T weight = weights[s];
          T slope, move;
          newton<T, DIVERGENCE>(pull, curve, weight, prices[s], ridge, concord, slope, move);
          move = moving >> s & 1u ? larger(move, -weight) : T(0);
          weights[s] = weight + move;
          if (weights[s] == weight) move = 0;  // change below the rounding error
          change += modulus(slope * move);
          #pragma unroll
          for (int e = 0; e < E; ++e) {
            model[e] = larger(model[e] + move * part[e][s], floor);
            if constexpr (DIVERGENCE) inverse[e] = inverse_of(model[e]);
          }
        }
        store(own + c * SEVERAL, weights);  // by all threads, so that no synchronisation is needed
      }
      if (sweep == 0) first = change;
      live = live && change > share * first;
      if (TEAM < 32 ? !__any_sync(ALL, live) : !live) break;
    }
    meet<TEAM>();

    if (score) {
      double value = 0;
      #pragma unroll
      for (int e = 0; e < E; ++e) {
        if constexpr (DIVERGENCE) {
          if (x[e] > T(0)) value -= double(x[e]) * double(logarithm(model[e]));
        } else {
          const double rest = double(x[e]) - double(model[e]);
          value += 0.5 * rest * rest;
        }
      }
      for (int t = member; t < K; t += TEAM) {
        const double weight = own[t];
        const double cost = DIVERGENCE && !observed ? lasso + __ldg(sums + t) : double(costs[t]);
        value += weight * (cost + 0.5 * double(ridge) * weight);
      }
      value = sum_over<LANES>(value);
      if constexpr (TEAM > 32) {
        if (lane == 0) sums_of_warps[warp] = value;
        __syncthreads();
        if (member == 0) for (int w = 1; w < WARPS; ++w) value += sums_of_warps[w];
      }
      if (member == 0 && given_now) values[row_now] = value;
    }
    if (given_now) {
      for (int i = member * SEVERAL; i < K; i += TEAM * SEVERAL) {
        T weights[SEVERAL], before[SEVERAL];
        fetch(own + i, weights);
        fetch(past + i, before);
        store(fresh + row_now * K + i, weights);
        #pragma unroll
        for (int s = 0; s < SEVERAL; ++s)
          weights[s] = larger(weights[s] + T(*push) * (weights[s] - before[s]), T(0));
        store(ahead + row_now * K + i, weights);
      }
    }
    meet<TEAM>();
  }
}
