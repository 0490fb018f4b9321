/* The move of common models: kick and drift of every particle in place, also in a box that changes. Before them comes
 * what is owed (owed.cuh): a kick and factors of all velocities, as after each step of a thermostat. It is the same
 * arithmetic as in move.cu.
 *
 * Trade-off: neither origins, ids nor groups are read. But models are those of one mass, without groups, and without
 * actions in the middle of a drift. The particles come in the opposite order of that of the forces, so that what the
 * forces left in the cache is still there.
 * Cost in 3D: 24 bytes of impulses, 48 of velocities and 48 of positions a particle.
 */
#include "gpu/move/launches.cuh"
#include "gpu/move/scaled.cuh"

template <class T, int SOURCE>
static __global__ void __launch_bounds__(256)
    k_move_scaled(const __grid_constant__ system_view<T> s, const __grid_constant__ step_args a,
                  const __grid_constant__ scaled_args<T> w, tile_plan plan)
{
  typedef typename T::real real;
  progress now;
  if (!begin_step(s, false, now)) return;
  empty_awaited_sums(s.ctl);
  unsigned bits = 0, most = 0;
  float usage = 0.0f;
  const double kicks = now.done == 0 ? a.first_kicks : a.kicks;
  const real time_scale = (real)a.time_scale;
  for_each_in_tiles_backwards(plan, s.n, [&](int i) {
    if (i >= s.n) return;
    typename T::particle r = load_particle<T>(s, now.parity, i);
    const float carried2 = carry<T>(a, MD_GROUP_ALL, r);
    float moved2 = 0.0f;
    bool sane = true;
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) {
      real v = scaled<T>(a, w, kicks, d, w.impulse[d][i], s.v[d][i]);
      const drifted<T> drift = drift_axis<T>(s, a, d, (real)a.motion.stretch[d] * time_scale, r.x[d], v);
      s.v[d][i] = v;
      sane = sane && drift.sane;
      most = max(most, magnitude_word(drift.moved));
      moved2 = fmaf((float)drift.moved, (float)drift.moved, moved2);
    }
    if (carried2 > 0.0f) moved2 = 2.0f * (moved2 + carried2); /* bounds the square of the sum of both ways */
    if (!sane) bits |= HALT_RUNAWAY;
    if constexpr (SOURCE == FROM_LIST) usage = fmaxf(usage, slack_used<T>(s, i, moved2, r));
    store_particle<T>(s, now.parity, i, r);
  });
  if constexpr (SOURCE == FROM_CELLS) usage = slack_after<T>(s, now.usage, most);
  end_step(s.ctl, s.launch, bits, usage);
}

template <class T>
md_status launch_move_scaled(const launch &l, int source, const system_view<T> &s, const step_args &a,
                             const scaled_args<T> &w)
{
  const tile_plan plan = plan_tiles(l, s.n);
  if (source == FROM_CELLS)
    k_move_scaled<T, FROM_CELLS><<<plan.blocks, l.threads, 0, l.stream>>>(s, a, w, plan);
  if constexpr (T::TAGGED)
    if (source == FROM_LIST)
      k_move_scaled<T, FROM_LIST><<<plan.blocks, l.threads, 0, l.stream>>>(s, a, w, plan);
  MD_LAUNCHED("k_move_scaled");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_move_scaled<T>(const launch &, int, const system_view<T> &, const step_args &,   \
                                           const scaled_args<T> &);
MD_LAYOUTS(INSTANCE)
