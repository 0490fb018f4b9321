/* One step: which kernels it takes, and what they are given.
 *
 * Where there is a fused kernel (advance_*.cu) it does all, and the positions it writes go into the other array. Else a
 * force kernel writes impulses into the idle position array, and a move kernel changes positions in place. Both find out
 * on the device whether the step may be taken (state.cuh). New positions of ghosts follow, and a look at those who went
 * beyond the slack of lists.
 *
 * Trade-off: fused kernels neither write nor read impulses, and read positions once, but are there for the common models
 * only; two kernels do every model. Cost on one rank: one launch a step, two or more if not fused, one more for ghosts.
 */
#ifndef MD_GPU_ENGINE_STEP_CUH
#define MD_GPU_ENGINE_STEP_CUH

#include "gpu/engine.cuh"

#include <cmath>

/* Between the bounds after a move, which walls are outside of; each may be infinite. The scale spans twice the box where there are
 * bounds. */
template <class T> void gpu_engine<T>::set_safe(int d, double lo, double hi)
{
  const uint32_t half = 0x7fffffffu;
  step.safe_lo32[d] = 0;
  step.safe_span32[d] = UINT32_MAX;
  if (std::isfinite(lo)) {
    step.safe_lo32[d] = mixed_place(d, lo);
    step.safe_span32[d] = std::isfinite(hi) ? mixed_place(d, hi) - step.safe_lo32[d] : half;
  } else if (std::isfinite(hi)) {
    step.safe_lo32[d] = mixed_place(d, hi) - half;
    step.safe_span32[d] = half;
  }
}

/* Kicks due around a drift: what the integrator leaves over is given at the end of a run. */
template <class T> void gpu_engine<T>::set_step()
{
  const md_integrator integrator = model->integrator;
  const double owed = integrator == MD_LEAPFROG_MIRROR ? 0.0 : 1.0, each = integrator == MD_NVE ? 2.0 : 1.0;
  const bool forces = model->pair.kind != MD_PAIR_NONE;
  step.motion = md_motion_of(model);
  step.first_kicks = forces ? owed : 0.0;
  step.kicks = forces ? each : 0.0;
  step.quantum = T::MIXED ? 1.0 : model->grids.v;
  step.time_scale = step.motion.time * model->velocity_per_v[1];
  step.time_scale_single = (float)step.time_scale;
  step.velocity_per_v = (const double *)a.ratio.at;
  step.mass = (const double *)a.mass.at;
  step.v_step = (const double *)a.v_step.at;
  for (int d = 0; d < 3; ++d) step.low[d] = (int64_t *)a.v_low[d].at;
  step.mass_reference = model->mass_reference;
  step.t_start = model->langevin.t_start;
  step.t_stop = model->langevin.t_stop;
  step.ramp_done = model->step - model->run_begin;
  step.ramp_span = model->run_end - model->run_begin;
  for (int d = 0; d < T::DIM; ++d) {
    const md_motion &m = step.motion;
    step.most_single[d] = (float)std::min(m.move_limit, 0.45 * model->box.length[d]);
    step.has_lo[d] = std::isfinite(m.lo[d]);
    step.has_hi[d] = std::isfinite(m.hi[d]);
    step.stays_lo[d] = std::isfinite(m.stay_lo[d]);
    step.stays_hi[d] = std::isfinite(m.stay_hi[d]);
    step.lo32[d] = step.has_lo[d] ? mixed_place(d, m.lo[d]) : 0;
    step.hi32[d] = step.has_hi[d] ? mixed_place(d, m.hi[d]) : 0;
    step.stay_lo32[d] = step.stays_lo[d] ? mixed_place(d, m.stay_lo[d]) : 0;
    step.stay_hi32[d] = step.stays_hi[d] ? mixed_place(d, m.stay_hi[d]) : 0;
    set_safe(d, m.stay_lo[d], m.stay_hi[d]);
  }
}

/* Impulse arrays lie in the position array that is not the present one: the host must know which that is, which it
 * does when the device rests, or when steps do not change it. */
template <class T> void gpu_engine<T>::impulse_arrays(real *impulse[3]) const
{
  real *base = (real *)a.x[now.parity ^ 1u].at;
  for (int d = 0; d < T::DIM; ++d) impulse[d] = base + (int64_t)d * view.n;
}

template <class T>
md_status gpu_engine<T>::launch_forces(const system_view<T> &s, real *const impulse[3], bool part_of_step)
{
  const md_pair_kind kind = model->pair.kind;
  if constexpr (!T::MIXED && T::TAGGED && !T::PACKED)
    if (source == FROM_ALL) return launch_force_all<T>(stepping, kind, s, impulse, part_of_step);
  if constexpr (!T::MIXED)
    if (options.gpu.symmetric)
      return launch_force_symmetric<T>(stepping, kind, source, s, impulse, part_of_step);
  if constexpr (std::is_same_v<T, exact2>)
    if (!choice.fused && !s.ghost.start)
      return launch_force_ladder(stepping, kind, options.gpu, s, options.gpu.unsorted ? order() : nullptr,
                                 impulse, part_of_step);
  return launch_force<T>(stepping, kind, source, s, impulse, part_of_step);
}

template <class T> double gpu_engine<T>::force_bytes() const
{
  const double n = (double)view.n, cells = (double)view.grid.total;
  const double index = options.gpu.unsorted ? 4.0 : 0.0;
  return n * (sizeof(record) + (source == FROM_LIST ? 16.0 * choice.rows : 0.0) + index) +
         (source == FROM_CELLS ? 4.0 * cells : 0.0);
}

template <class T>
md_status gpu_engine<T>::launch_fused(const launch &l, const system_view<T> &s, step_sorting sorting)
{
  const md_pair_kind kind = model->pair.kind == MD_PAIR_NONE ? (md_pair_kind)0 : model->pair.kind;
  const double part =
      s.part == PART_ALL ? 1.0 : (double)(s.part == PART_SENT ? s.nsent : s.n - s.nsent) / s.n;
  const double origins = sorting == SORTS_MOVE ? 8.0 : 0.0;
  const double bytes = force_bytes() + (double)view.n * (2.0 * WRITTEN - sizeof(record) +
                                                         2.0 * T::DIM * sizeof(real) + origins);
  const auto advance = [&]() -> md_status {
    if constexpr (T::TAGGED)
      if (source == FROM_LIST) return launch_advance_list<T>(l, kind, s, step);
    if constexpr (T::SKETCHED)
      return launch_advance_plain<T>(l, kind, s, step, order_next(sorting));
    else if constexpr (T::DIM == 3 && !T::PACKED)
      return launch_advance_cells<T>(l, kind, s, step);
    return md_error(MD_RUNTIME, "the GPU engine has no fused kernel for this system");
  };
  static const char *const names[] = {"advance", "advance, count", "advance, sort"};
  /* What runs beside has no time of its own. */
  return l.stream == stream ? timed(names[sorting], part * bytes, advance) : advance();
}

template <class T> md_status gpu_engine<T>::launch_unfused()
{
  real *impulse[3] = {};
  impulse_arrays(impulse);
  const double n = (double)view.n, each = T::DIM * sizeof(real);
  MD_TRY(timed("force", force_bytes() + n * each, [&] { return launch_forces(view, impulse, true); }));
  MD_TRY(share_overflow());
  return timed("move", n * (READ + WRITTEN + 3.0 * each),
               [&] { return launch_move<T>(stepping, source, view, step, impulse); });
}

template <class T> md_status gpu_engine<T>::check_strays(unsigned step_launch)
{
  if constexpr (T::TAGGED)
    if (view.strays)
      return timed("strays", 0.0, [&] { return launch_check_strays<T>(wide, view, step_launch); });
  return MD_OK;
}

template <class T> md_status gpu_engine<T>::launch_step(step_sorting sorting)
{
  if (several) return launch_step_ranks(sorting);
  MD_TRY(choice.fused ? launch_fused(stepping, view, sorting) : launch_unfused());
  ++view.launch;
  MD_TRY(update_halo());
  return check_strays(view.launch - 1u);
}

#endif
