/* Kicking and drifting one particle on the device: common/motion.h for exact layouts, and the same steps on 32-bit
 * coordinates for mixed ones. Also: how much of the slack a particle has used since the rebin.
 *
 * With cells the slack is how far a particle may stray out of the cell it was put in, (width - cutoff)/2 along any
 * axis: no other memory than its cell's number tells. With lists it is half the skin, and the particle's path length
 * since the rebin, carried in its record, bounds its displacement. Fast particles are listed farther, and their paths begin
 * below zero.
 */
#ifndef MD_GPU_STEP_CUH
#define MD_GPU_STEP_CUH

#include "gpu/visit.cuh"

/* One step, for move kernels. */
struct step_args {
  md_motion motion;
  double first_kicks, kicks; /* impulses due before the drift: in the first step, and in later ones */
  double quantum;            /* of impulses; 1 for mixed layouts */
  double time_scale;         /* of a drift, with one mass */
  const double *velocity_per_v, *mass; /* by 0-based type */
  double mass_reference;
  const int64_t *id; /* by original index; with a thermostat only */
  const int *origin; /* original index of each particle */
  double t_start, t_stop;
  int64_t ramp_done, ramp_span;                          /* steps of the run before `done`, and in all */
  uint32_t lo32[3], hi32[3], stay_lo32[3], stay_hi32[3]; /* walls and bounds of mixed layouts */
  bool has_lo[3], has_hi[3], stays_lo[3], stays_hi[3];
};

template <class T> struct drifted {
  float moved; /* at least the displacement's magnitude */
  bool sane;
};

/* One coordinate of an exact layout. */
template <class T>
__device__ __forceinline__ drifted<T> drift_axis(const system_view<T> &, const step_args &a, int d,
                                                 double time_scale, double &x, double &v)
{
  /* As md_motion_drift; within the bounds there is no wall to reflect at, which is almost always. */
  const double moved = md_drift(v, time_scale, a.motion.round_x);
  x += moved;
  bool sane = fabs(moved) <= a.motion.move_limit;
  if (!(x >= a.motion.stay_lo[d] && x <= a.motion.stay_hi[d])) {
    if (sane) md_reflect(&x, &v, a.motion.lo[d], a.motion.hi[d], a.motion.quantum);
    sane = sane && x >= a.motion.stay_lo[d] && x <= a.motion.stay_hi[d];
  }
  return drifted<T>{fabsf((float)moved), sane};
}

/* One coordinate of a mixed layout: whole units of the 32-bit scale, mirrored half a unit outside the walls. */
template <class T>
__device__ __forceinline__ drifted<T> drift_axis(const system_view<T> &s, const step_args &a, int d,
                                                 double time_scale, uint32_t &x, float &v)
{
  const float moved = v * (float)time_scale;
  const bool within = fabsf(moved) <= (float)a.motion.move_limit && fabsf(moved) < 0.45f * (float)s.length[d];
  if (!within) return drifted<T>{fabsf(moved), false};
  x += (uint32_t)__float2int_rn(moved * (float)s.scale.per_unit[d]);
  if (a.has_lo[d] && (int32_t)(x - a.lo32[d]) < 0) {
    x = a.lo32[d] + (a.lo32[d] - x) - 1u;
    v = -v;
  }
  if (a.has_hi[d] && (int32_t)(a.hi32[d] - x) < 0) {
    x = a.hi32[d] + (a.hi32[d] - x) + 1u;
    v = -v;
  }
  const bool sane = !(a.stays_lo[d] && (int32_t)(x - a.stay_lo32[d]) < 0) &&
                    !(a.stays_hi[d] && (int32_t)(a.stay_hi32[d] - x) < 0);
  return drifted<T>{fabsf(moved), sane};
}

/* v plus some impulses. */
__device__ __forceinline__ double kicked(double v, double kicks, double impulse, double quantum)
{
  return md_kick(v, kicks * impulse, quantum);
}
__device__ __forceinline__ float kicked(float v, double kicks, float impulse, double)
{
  return fmaf((float)kicks, impulse, v);
}

/* The share of the slack used by a particle that was put into `cell` and is at x. */
template <class T>
__device__ __forceinline__ float strayed(const system_view<T> &s, int cell, const typename T::particle &x)
{
  int c[3];
  cell_coordinates<T::DIM>(s.grid, cell, c);
  float most = 0.0f;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    const int inner = c[d] - s.grid.border[d];
    if constexpr (T::MIXED) {
      const uint32_t edge = s.grid.lo32[d] + (uint32_t)(((uint64_t)inner * s.grid.width32[d]) >> 16);
      const int32_t into = (int32_t)(x.x[d] - edge), beyond = into - (int32_t)(s.grid.width32[d] >> 16);
      most = fmaxf(most, (float)max(beyond, -into) * s.scale.unit_single[d]);
    } else {
      const float into = (float)(x.x[d] - fma((double)inner, s.grid.width[d], s.grid.lo[d]));
      most = fmaxf(most, fmaxf(into - s.grid.width_single[d], -into));
    }
  }
  return most * s.per_slack;
}

/* The share of the slack used, with the path of a tagged record lengthened by a step. */
template <class T, int SOURCE>
__device__ __forceinline__ float slack_used(const system_view<T> &s, int cell, float moved2,
                                            typename T::particle &x)
{
  if constexpr (SOURCE == FROM_LIST) {
    const float path = path_of(x) + sqrtf(moved2) * (1.0f + 0x1p-20f);
    set_path(x, path);
    return path_of(x) * s.per_slack;
  } else {
    return strayed(s, cell, x);
  }
}

#endif
