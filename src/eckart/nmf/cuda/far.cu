// Rows whose parts, or whose entries, are too many for shared memory and registers; after steps.cu.
// One thread block per row. PLACE 1: the entries of a row are in registers, E per thread, and the parts that do not fit
// into shared memory are in `scratch`. PLACE 2: the entries are in `scratch` as well.
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
  T* slots = reinterpret_cast<T*>(sums_of_warps + 2 * WARPS);  // 4 WARPS: numerator and curvature, two buffers
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

    // Coordinates that can change
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
        // Two alternating buffers: a thread that runs ahead writes to the one that no thread reads any longer.
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
        if (next == weight) continue;  // change below the rounding error
        own[t] = next;  // by all threads, so that no synchronisation is needed
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
