/* The kick and the drift of one body, by the functions of common/step/step.h. */
#ifndef MD_GPU_ALL_PAIRS_MOVE_CUH
#define MD_GPU_ALL_PAIRS_MOVE_CUH

#include "gpu/all_pairs/bodies.cuh"

/* Every drift. Returns false for a runaway. */
static __device__ __forceinline__ bool drift_any(const md_step &step, md_particle *p)
{
  double moved[3] = {0.0, 0.0, 0.0};
  md_step_move(&step, p, moved);
  bool sane = true;
  for (int d = 0; d < 3 && d < step.dim; ++d) sane = sane && md_step_allows(&step, d, moved[d], p->x[d]);
  return sane;
}

/* The usual drift: no fix acts in its middle, and no wall or bound is reached, so that no momentum changes. Returns
 * false if it is another one, and then p is as before. */
static __device__ __forceinline__ bool drift_free(const md_step &step, md_particle *p)
{
  if (step.middles > 0) return false;
  const double time_scale = step.time * p->velocity_per_v;
  double x[3];
  bool is_free = true;
#pragma unroll
  for (int d = 0; d < 3; ++d) {
    if (d >= step.dim) continue;
    const double moved = md_drift(p->v[d], time_scale, step.round_x);
    x[d] = p->x[d] + moved;
    is_free = is_free && x[d] >= step.stay_lo[d] && x[d] <= step.stay_hi[d] && fabs(moved) <= step.move_limit;
  }
#pragma unroll
  for (int d = 0; d < 3; ++d)
    if (is_free && d < step.dim) p->x[d] = x[d];
  return is_free;
}

/* Gives a body its impulse, in quanta, `kicks` times. */
static __device__ __forceinline__ void kick(const md_step &step, double quantum, int kicks,
                                            const int64_t impulse[3], md_particle *p)
{
  if ((p->group & step.moving) == 0 || kicks == 0) return;
#pragma unroll
  for (int d = 0; d < 3; ++d)
    if (d < step.dim) {
      /* Two calls, because a pointer that may be null would keep the body in memory. */
      if (p->wide)
        md_step_kick_count(kicks * impulse[d], quantum, p->v_step, &p->v[d], &p->low[d]);
      else
        md_step_kick_count(kicks * impulse[d], quantum, p->v_step, &p->v[d], nullptr);
      p->impulse[d] = quantum * (double)impulse[d];
    }
}

#endif
