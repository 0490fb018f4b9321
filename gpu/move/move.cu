/* The move kernel: kick and drift of every particle in place, after a force kernel. It serves every model, also
 * thermostats and several masses.
 *
 * For each particle, along each axis:
 *   1. kick by the impulse that the force kernel left in the impulse arrays, after what is owed (owed.cuh);
 *   2. drift, with reflection at walls;
 *   3. with fixes that act in the middle of a drift (common/step/step.h): 2 was only half a drift, so the fixes act,
 *      and the second half follows;
 *   4. store the particle, and how much of the slack it has used.
 *
 * Trade-off: it does every model, but impulses travel through memory, which a fused kernel avoids.
 * Bytes a particle and step in 2D: 16 for impulses, 64 for positions and velocities.
 */
#include "gpu/move/carry.cuh"
#include "gpu/move/launches.cuh"
#include "gpu/move/owed.cuh"
#include "gpu/particle/images.cuh"

template <class T> struct impulse_arrays {
  const typename T::real *at[3];
};

/* The second word of a momentum component, or NULL if momenta are not wide. */
template <class T> static __device__ __forceinline__ int64_t *low_word(const step_args &a, int i, int d)
{
  if constexpr (T::WIDENS) return a.low[0] ? &a.low[d][a.origin[i]] : nullptr;
  return nullptr;
}

/* Adds `kicks` times the impulse to a component of a momentum. low: its second word, or NULL. */
template <class T>
static __device__ __forceinline__ void kick(const step_args &a, int type, double kicks, double impulse,
                                            typename T::real &v, int64_t *low)
{
  if constexpr (T::WIDENS)
    if (low) {
      md_step_kick(kicks * impulse, a.quantum, a.v_step[type], &v, low);
      return;
    }
  v = kicked(v, (typename T::real)kicks, (typename T::real)impulse, a.quantum);
}

/* The momentum of particle i, with what is owed to it. low: its second words, if momenta are wide. */
template <class T>
static __device__ __forceinline__ void momentum_of(const system_view<T> &s, const step_args &a,
                                                   const owed_work<T> &owed, int i, typename T::real v[],
                                                   int64_t low[])
{
  const md_particle p = settled<T>(s, owed, a.motion, i);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    v[d] = (typename T::real)p.v[d];
    low[d] = p.low[d];
  }
}
template <class T>
static __device__ __forceinline__ void momentum_of(const system_view<T> &s, const step_args &a,
                                                   const nothing_owed &, int i, typename T::real v[],
                                                   int64_t low[])
{
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    const int64_t *word = low_word<T>(a, i, d);
    v[d] = s.v[d][i];
    low[d] = word ? *word : 0;
  }
}

/* Particle i as fixes get it, without its position and velocity. */
template <class T>
static __device__ __forceinline__ md_particle particle_for_fixes(const step_args &a, int i, int type,
                                                                 uint32_t group)
{
  md_particle p = {};
  p.id = (uint64_t)a.id[a.origin[i]];
  p.group = group;
  p.type = type_shown(a, type);
  p.mass = a.mass[type];
  p.v_step = a.v_step[type];
  p.velocity_per_v = a.velocity_per_v[type];
  return p;
}

/* Applies the fixes that act before a drift. shift: receives their shift. Returns the time scale of the drifts. */
template <class T>
static __device__ __noinline__ typename T::real
act_before(const system_view<T> &s, const step_args &a, int i, uint32_t group, int64_t done,
           const impulse_arrays<T> &impulse, typename T::real time_scale, typename T::particle &r,
           typename T::real v[], drifted<T> shift[])
{
  const int type = type_of(r);
  double by[3] = {0.0, 0.0, 0.0};
  md_particle p = particle_for_fixes<T>(a, i, type, group);
  const bool has_impulse = (group & a.motion.moving) != 0 && a.motion.kicks_before != 0;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    p.x[d] = T::where(s.scale, d, r.x[d]);
    p.v[d] = (double)v[d];
    if (has_impulse) p.impulse[d] = a.quantum * (double)impulse.at[d][i];
  }
  const bool drifts = md_step_before_drift(&a.motion, done, &p, by);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    v[d] = (typename T::real)p.v[d];
    shift[d] = shift_axis<T>(s, a, d, by[d], r.x[d]);
  }
  return drifts ? time_scale : (typename T::real)0.0;
}

/* Applies the fixes that act in the middle of a drift, and then does the second half of the drift. `done` steps lie
 * between the step of a.motion and this one. drift[]: of the first half, and on return of both. An axis along which the
 * particle has moved too far already stays as it is. */
template <class T>
static __device__ __forceinline__ void act(const system_view<T> &s, const step_args &a, int i, int type,
                                           uint32_t group, int64_t done, typename T::real time_scale,
                                           typename T::particle &r, typename T::real v[], drifted<T> drift[])
{
  md_particle p = particle_for_fixes<T>(a, i, type, group);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    p.x[d] = T::where(s.scale, d, r.x[d]);
    p.v[d] = (double)v[d];
  }
  md_step_act(&a.motion, done, &p);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    const double most = T::MIXED ? (double)a.most_single[d] : a.motion.move_limit;
    if (!((double)drift[d].moved <= most)) continue;
    v[d] = (typename T::real)p.v[d];
    const drifted<T> second =
        drift_axis<T>(s, a, d, (typename T::real)a.motion.stretch[d] * time_scale, r.x[d], v[d]);
    drift[d] = drifted<T>{drift[d].moved + second.moved, second.sane};
  }
}

/* The velocity of a particle that went through faces of a box that flows. */
template <class T>
static __device__ __noinline__ void cross(const step_args &a, uint32_t group, int type,
                                          const typename T::particle &from, const typename T::particle &to,
                                          const drifted<T> drift[], typename T::real v[])
{
  double x[3] = {0.0, 0.0, 0.0}, y[3] = {0.0, 0.0, 0.0}, w[3] = {0.0, 0.0, 0.0};
  for (int d = 0; d < T::DIM; ++d) {
    if (!drift[d].sane) return;
    x[d] = from.x[d];
    y[d] = to.x[d];
    w[d] = v[d];
  }
  md_step_cross(&a.motion, group, x, y, a.velocity_per_v[type], a.v_step[type], w);
  for (int d = 0; d < T::DIM; ++d) v[d] = w[d];
}

/* The velocity before those faces, in a step back. */
template <class T>
static __device__ __noinline__ void uncross(const step_args &a, uint32_t group, int type,
                                            const typename T::particle &at, double time_scale,
                                            typename T::real v[])
{
  double x[3] = {0.0, 0.0, 0.0}, w[3] = {0.0, 0.0, 0.0};
  for (int d = 0; d < T::DIM; ++d) {
    x[d] = at.x[d];
    w[d] = v[d];
  }
  md_step_uncross(&a.motion, group, x, time_scale, a.velocity_per_v[type], a.v_step[type], w);
  for (int d = 0; d < T::DIM; ++d) v[d] = w[d];
}

static __device__ __forceinline__ uint32_t group_of(const step_args &a, int i)
{
  return a.group ? a.group[a.origin[i]] : MD_GROUP_ALL;
}

/* Stores a momentum and, if momenta are wide, its second words. */
template <class T>
static __device__ __forceinline__ void store_momentum(const system_view<T> &s, const step_args &a, int i,
                                                      const typename T::real v[], const int64_t low[])
{
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    s.v[d][i] = v[d];
    if (int64_t *word = low_word<T>(a, i, d)) *word = low[d];
  }
}

/* carry() of a step back, which comes after the drift. behind2: what carry() returned. */
template <class T>
static __device__ __forceinline__ float carry_back(const step_args &a, uint32_t group, float behind2,
                                                   typename T::particle &r)
{
  if constexpr (!T::MIXED)
    if (a.motion.back) return uncarry<T>(a, group, r);
  return behind2;
}

/* Kicks particle i and lets it drift, with the fixes that act on it in between. `done` steps lie between the step of
 * a.motion and this one. drift[]: receives the way along each axis. */
template <class T>
static __device__ __forceinline__ void kick_and_drift(const system_view<T> &s, const step_args &a,
                                                      const impulse_arrays<T> &impulse, int64_t done, int i,
                                                      uint32_t group, typename T::particle &r,
                                                      typename T::real v[], int64_t low[], drifted<T> drift[])
{
  const typename T::particle from = r;
  const int type = type_of(r);
  const double kicks = done == 0 ? a.first_kicks : a.kicks;
  const bool gets_kicks = kicks != 0.0 && (group & a.motion.moving);
  typename T::real time_scale = (typename T::real)(a.motion.time * a.velocity_per_v[type]), before[T::DIM];
  drifted<T> shift[T::DIM];
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    int64_t *word = low_word<T>(a, i, d);
    if (gets_kicks) kick<T>(a, type, kicks, impulse.at[d][i], v[d], word ? &low[d] : nullptr);
    shift[d] = drifted<T>{(typename T::real)0.0, true};
  }
  if (a.motion.middles > 0)
    time_scale = act_before<T>(s, a, i, group, done, impulse, time_scale, r, v, shift);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) before[d] = v[d];
  if constexpr (!T::MIXED)
    if (a.motion.back && a.motion.flow.group) uncross<T>(a, group, type, r, time_scale, v);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    if (!shift[d].sane) {
      drift[d] = shift[d];
      continue;
    }
    drift[d] = drift_axis<T>(s, a, d, (typename T::real)a.motion.stretch[d] * time_scale, r.x[d], v[d]);
    drift[d].moved += shift[d].moved;
  }
  if (a.motion.middles > 0) act<T>(s, a, i, type, group, done, time_scale, r, v, drift);
  if constexpr (!T::MIXED)
    if (a.motion.flow.group && !a.motion.back) cross<T>(a, group, type, from, r, drift, v);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d)
    if constexpr (T::WIDENS) low[d] = a.motion.middles > 0 ? 0 : md_momentum_turned(before[d], v[d], low[d]);
}

template <class T, int SOURCE, class OWED>
static __global__ void __launch_bounds__(256)
    k_move(const __grid_constant__ system_view<T> s, const __grid_constant__ step_args a,
           impulse_arrays<T> impulse, const __grid_constant__ OWED owed)
{
  progress now;
  if (!begin_step(s, false, now)) return;
  unsigned bits = 0, most = 0;
  float usage = 0.0f;
  const int stride = gridDim.x * blockDim.x;
  for (int64_t k = blockIdx.x * blockDim.x + threadIdx.x; k < s.n; k += stride) {
    const int i = (int)k;
    const uint32_t group = group_of(a, i);
    const bool moves = (group & (a.motion.moving | a.motion.placed)) != 0;
    if (std::is_same_v<OWED, nothing_owed> && !moves && !a.motion.changes_box) continue;
    typename T::particle r = load_particle<T>(s, now.parity, i);
    float behind2 = carry<T>(a, group, r);
    typename T::real v[T::DIM];
    int64_t low[T::DIM];
    momentum_of<T>(s, a, owed, i, v, low);
    if (!moves) {
      /* Actions after steps also act on particles that no integrator moves. */
      store_momentum<T>(s, a, i, v, low);
      if (!a.motion.changes_box) continue;
      behind2 = carry_back<T>(a, group, behind2, r);
      if constexpr (SOURCE == FROM_LIST) usage = fmaxf(usage, slack_used<T>(s, i, behind2, r));
      store_particle<T>(s, now.parity, i, r);
      continue;
    }
    drifted<T> drift[T::DIM];
    kick_and_drift<T>(s, a, impulse, now.done, i, group, r, v, low, drift);
    behind2 = carry_back<T>(a, group, behind2, r);
    store_momentum<T>(s, a, i, v, low);
    float moved2 = 0.0f;
    bool sane = true;
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) {
      sane = sane && drift[d].sane;
      most = max(most, magnitude_word(drift[d].moved));
      moved2 = fmaf((float)drift[d].moved, (float)drift[d].moved, moved2);
    }
    if (behind2 > 0.0f) moved2 = 2.0f * (moved2 + behind2); /* bounds the square of the sum of both ways */
    if (!sane) bits |= HALT_RUNAWAY;
    if constexpr (SOURCE == FROM_ALL) r = wrapped<T>(s, r);
    if constexpr (SOURCE == FROM_LIST) usage = fmaxf(usage, slack_used<T>(s, i, moved2, r));
    store_particle<T>(s, now.parity, i, r);
  }
  if constexpr (SOURCE == FROM_CELLS) usage = slack_after<T>(s, now.usage, most);
  end_step(s.ctl, s.launch, bits, usage);
}

template <class T, class OWED>
static void launch_owing(const launch &l, int source, const system_view<T> &s, const step_args &a,
                         const impulse_arrays<T> &impulse, const OWED &owed)
{
  const int blocks = blocks_walking(l, s.n);
  if (source == FROM_CELLS) k_move<T, FROM_CELLS><<<blocks, l.threads, 0, l.stream>>>(s, a, impulse, owed);
  if constexpr (T::TAGGED) {
    if (source == FROM_LIST) k_move<T, FROM_LIST><<<blocks, l.threads, 0, l.stream>>>(s, a, impulse, owed);
    if constexpr (!T::MIXED)
      if (source == FROM_ALL) k_move<T, FROM_ALL><<<blocks, l.threads, 0, l.stream>>>(s, a, impulse, owed);
  }
}

template <class T>
md_status launch_move(const launch &l, int source, const system_view<T> &s, const step_args &a,
                      const typename T::real *const impulse[3], const owed_work<T> *owed)
{
  const impulse_arrays<T> arrays = {{impulse[0], impulse[1], impulse[2]}};
  if (owed)
    launch_owing<T>(l, source, s, a, arrays, *owed);
  else
    launch_owing<T>(l, source, s, a, arrays, nothing_owed{});
  MD_LAUNCHED("k_move");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_move<T>(const launch &, int, const system_view<T> &, const step_args &,          \
                                    const T::real *const[3], const owed_work<T> *);
MD_LAYOUTS(INSTANCE)
