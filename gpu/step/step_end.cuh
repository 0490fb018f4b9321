/* The end of a step for one particle: the evaluation of its pairs, its kick and its drift. The fused kernels
 * (step_*.cu), which do force, kick and drift in one kernel, share it.
 *
 *   1. evaluate_pair() adds the impulses of pairs, with the fast rounding, and notes the least distance of a pair.
 *   2. If no pair was too near for this rounding, move_particle() gives the kick and the drift.
 *   3. Otherwise move_near_particle() repeats the whole step of this particle with a careful sum (careful_sum.cuh).
 *   4. All that a thread notes on the way is collected in its findings.
 */
#ifndef MD_GPU_STEP_STEP_END_CUH
#define MD_GPU_STEP_STEP_END_CUH

#include "gpu/particle/launch.cuh"
#include "gpu/step/careful_sum.cuh"

/* What one thread has found so far in the particles that it moved. bits: of progress.halt. most: with cells, the
 * largest displacement of the step along an axis, as a magnitude_word. usage: with lists, the largest share of the
 * slack that is used. */
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

/* Calls f(view, scattered) for a launch of all particles, or of a part of them. scattered.value is a constant: true
 * if the particles need not lie together (scattered() in gpu/particle/view.cuh). */
template <class T, class F> static md_status in_parts(const system_view<T> &s, F &&f)
{
  if (s.part.which == PART_ALL) return f(undivided(s), std::false_type{});
  return scattered(s) ? f(s, std::true_type{}) : f(s, std::false_type{});
}

/* Where a moved particle is written: its position to index `at` of the idle position array, and its velocity to index
 * `at` of v[]. */
template <class T> struct destination {
  typename T::real *const *v;
  int at;
};

/* Loads the velocity of particle i. It may leave the cache at once: no other thread reads it in this step. */
template <class T>
static __device__ __forceinline__ void load_velocity(const system_view<T> &s, int i, typename T::real v[3])
{
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) v[d] = __ldcs(s.v[d] + i);
}

/* How far along an axis a particle is, at most, from the place where foreseen_cell() expected it. `moved` is its
 * displacement in this step and `change` the change of its velocity; the sign of the result means nothing. A particle
 * that moved farther than the slack may have been reflected far from that place. The result is then `moved`, which
 * makes the cells stale. */
template <class T>
static __device__ __forceinline__ typename T::real
unforeseen_move(const system_view<T> &s, typename T::real moved, typename T::real change,
                typename T::real time)
{
  return moved <= (typename T::real)s.slack.most ? change * time : moved;
}

/* Gives a particle of velocity v the kick by `impulse`, drifts it, and writes it to its destination. `kicks`: how many
 * times the impulse is given. parity: of the present positions. SORTS: the step writes the particle to its foreseen
 * cell, so what counts is its distance from the place that was expected. */
template <class T, int SOURCE, bool SORTS = false>
static __device__ __forceinline__ void
move_particle(const system_view<T> &s, const step_args &a, typename T::real kicks, const destination<T> &to,
              typename T::particle &x, typename T::real v[3], const typename T::real impulse[3],
              unsigned parity, findings &found)
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
    const typename T::real before = v[d];
    v[d] = kicked(v[d], kicks, impulse[d], a.quantum);
    const typename T::real change = v[d] - before;
    const drifted<T> drift = drift_axis<T>(s, a, d, time_scale, x.x[d], v[d]);
    if constexpr (SOURCE == FROM_CELLS)
      store_last(to.v[d] + to.at, v[d]);
    else
      to.v[d][to.at] = v[d];
    sane = sane && drift.sane;
    if constexpr (SOURCE == FROM_LIST)
      moved2 = fmaf((float)drift.moved, (float)drift.moved, moved2);
    else
      found.most = max(found.most, magnitude_word(SORTS ? unforeseen_move(s, drift.moved, change, time_scale)
                                                        : drift.moved));
  }
  if (!sane) found.bits |= HALT_RUNAWAY;
  if constexpr (SOURCE == FROM_LIST) found.usage = fmaxf(found.usage, slack_used<T>(s, to.at, moved2, x));
  if constexpr (SOURCE == FROM_CELLS) {
    store_last(s.x[parity ^ 1u] + to.at, x);
    if constexpr (T::HAS_COARSE) store_last(s.rest[parity ^ 1u] + to.at, T::coarse(s.scale.coarse, x));
  } else {
    store_particle<T>(s, parity ^ 1u, to.at, x);
  }
}

/* The whole step of particle i, which has a pair that is too near for the fast rounding. It is not inlined and gets no
 * intermediate result: such particles are rare, and the fast path must not keep registers free for them. */
template <class T, int STYLE, int SOURCE, bool SORTS = false>
static __device__ __noinline__ findings move_near_particle(const system_view<T> &s, const step_args &a,
                                                           typename T::real kicks, int i, destination<T> to,
                                                           unsigned parity)
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
  typename T::particle x_i = load_particle<T>(s, parity, i);
  move_particle<T, SOURCE, SORTS>(s, a, kicks, to, x_i, v, impulse, parity, found);
  return found;
}

/* A squared distance as a whole number of the same order. A pair whose number is not above close_high is too near for
 * the fast rounding, or, in mixed precision, overlaps. */
static __device__ __forceinline__ int order_of(double r2) { return upper_word(r2); }
static __device__ __forceinline__ int order_of(float r2) { return __float_as_int(r2); }

/* Adds the impulse of a pair to the sum, if the pair is within the cutoff and `other` is true, and then calls
 * also(r2, delta, f) with the difference xi - xj and the impulse over the distance. other: false if xi and xj are the
 * same particle. least: becomes the smaller of itself and order_of() the squared distance r2. */
template <class T, int STYLE, class F>
static __device__ __forceinline__ void
evaluate_pair_and(const system_view<T> &s, const typename T::record &xi, const typename T::record &xj,
                  bool other, typename T::sum sum[3], int &least, F also)
{
  typedef typename T::real real;
  real delta[3];
  const real r2 = separation<T>(s.scale, xi, xj, delta);
  if (!(r2 < s.pair.k[0]) || !other) return;
  least = min(least, order_of(r2));
  real f;
  if constexpr (T::PACKED)
    f = ranged_force_of<STYLE>(r2, s.pair.k);
  else
    f = force_of<STYLE>(r2, s.pair.k);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) T::add(sum[d], f, delta[d]);
  also(r2, delta, f);
}

/* The same for the impulse alone. */
template <class T, int STYLE>
static __device__ __forceinline__ void evaluate_pair(const system_view<T> &s, const typename T::record &xi,
                                                     const typename T::record &xj, bool other,
                                                     typename T::sum sum[3], int &least)
{
  evaluate_pair_and<T, STYLE>(s, xi, xj, other, sum, least,
                              [](typename T::real, const typename T::real *, typename T::real) {});
}

#endif
