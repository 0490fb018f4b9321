/* The end of a step for one particle, shared by the kernels that fuse force and move. */
#ifndef MD_GPU_ADVANCE_CUH
#define MD_GPU_ADVANCE_CUH

#include "gpu/launch.cuh"
#include "gpu/sum.cuh"

/* What a thread has found so far in the particles it moved. most: the largest step of one along an axis, as a
 * magnitude_word, with cells; usage: the share of the slack used, with lists. */
struct findings {
  unsigned bits, most;
  float usage;
};

static __device__ __forceinline__ void merge(findings &a, const findings &b)
{
  a.bits |= b.bits;
  a.most = max(a.most, b.most);
  a.usage = fmaxf(a.usage, b.usage);
}

/* Calls f(view, scattered), with scattered.value a constant, for a launch of all particles or of a part. */
template <class T, class F> static md_status in_parts(const system_view<T> &s, F &&f)
{
  if (s.part == PART_ALL) return f(undivided(s), std::false_type{});
  return scattered(s) ? f(s, std::true_type{}) : f(s, std::false_type{});
}

/* Kicks particle i, of velocity v, by `impulse`, drifts it, and writes it to the position array that is not that of
 * `parity`. */
template <class T, int SOURCE>
static __device__ __forceinline__ void
move_particle(const system_view<T> &s, const step_args &a, double kicks, int i, typename T::particle x,
              typename T::real v[3], const typename T::real impulse[3], unsigned parity, findings &found)
{
  typename T::real time_scale;
  if constexpr (T::MIXED)
    time_scale = a.time_scale_single;
  else
    time_scale = a.time_scale;
  float moved2 = 0.0f;
  bool sane = true;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    v[d] = kicked(v[d], (typename T::real)kicks, impulse[d], a.quantum);
    const drifted<T> drift = drift_axis<T>(s, a, d, time_scale, x.x[d], v[d]);
    if constexpr (SOURCE == FROM_CELLS)
      store_last(s.v[d] + i, v[d]);
    else
      s.v[d][i] = v[d];
    sane = sane && drift.sane;
    if constexpr (SOURCE == FROM_LIST)
      moved2 = fmaf((float)drift.moved, (float)drift.moved, moved2);
    else
      found.most = max(found.most, magnitude_word(drift.moved));
  }
  if (!sane) found.bits |= HALT_FLYER;
  if constexpr (SOURCE == FROM_LIST) found.usage = fmaxf(found.usage, slack_used<T>(s, moved2, x));
  if constexpr (SOURCE == FROM_CELLS)
    store_last(s.x[parity ^ 1u] + i, x);
  else
    store_particle<T>(s, parity ^ 1u, i, x);
}

/* The whole step of a particle with a pair that the fast loop could not round. Not inlined, and starting from nothing:
 * such particles are rare, and the fast path must not keep registers free for them. */
template <class T, int STYLE, int SOURCE>
static __device__ __noinline__ findings move_near_particle(const system_view<T> &s, const step_args &a,
                                                           double kicks, int i, unsigned parity)
{
  findings found = {0, 0, 0.0f};
  typename T::real impulse[3] = {0, 0, 0}, v[3];
  const typename T::record *x = s.x[parity];
  if constexpr (T::MIXED) {
    found.bits = HALT_OVERLAP;
  } else {
    int64_t sum[3];
    if (!sum_near<T, STYLE, SOURCE>(s, x, i, sum)) found.bits = HALT_OVERLAP;
    for (int d = 0; d < T::DIM; ++d) impulse[d] = (double)sum[d];
  }
  for (int d = 0; d < T::DIM; ++d) v[d] = s.v[d][i];
  move_particle<T, SOURCE>(s, a, kicks, i, load_particle<T>(s, parity, i), v, impulse, parity, found);
  return found;
}

/* Squared distances as whole numbers of the same order: pairs not above close_high are too near for the fast rounding, or,
 * in mixed precision, overlap. */
static __device__ __forceinline__ int order_of(double r2) { return upper_word(r2); }
static __device__ __forceinline__ int order_of(float r2) { return __float_as_int(r2); }
template <class T>
static __device__ __forceinline__ bool too_near(const system_view<T> &s, typename T::real r2)
{
  return order_of(r2) <= s.close_high;
}

#endif
