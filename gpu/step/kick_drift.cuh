/* Kicking and drifting one particle on the device: common/motion.h for exact layouts, and the same steps on 32-bit
 * coordinates for mixed ones. Also: how much of the slack a particle has used since the rebin.
 *
 * With cells the slack is what their width exceeds the cutoff by. A particle looks for partners around the cell where it
 * is now, among particles in the cells where they were at the rebin: it is enough that nobody has moved farther than the
 * slack, along any axis, since then. The largest displacement is bounded by the sum of each step's largest one, so that
 * nothing is stored by particle. With lists it is half the skin, and the particle's path length since the rebin, carried
 * in its record, bounds its displacement. Fast particles are listed farther, and their paths begin below zero.
 */
#ifndef MD_GPU_STEP_KICK_DRIFT_CUH
#define MD_GPU_STEP_KICK_DRIFT_CUH

#include "gpu/neighbour/for_each.cuh"

/* One step, for move kernels. */
struct step_args {
  md_step motion;
  double first_kicks, kicks; /* impulses due before the drift: in the first step, and in later ones */
  double quantum;            /* of impulses; 1 for mixed layouts */
  int64_t *low[3];           /* by original index: second words of momenta; NULL unless these are wide */
  double time_scale;         /* of a drift, with one mass */
  float time_scale_single;   /* and for mixed layouts, with the most a drift may be */
  float most_single[3];
  const double *velocity_per_v, *mass, *v_step;          /* by 0-based type */
  const int64_t *id;                                     /* by original index; with a thermostat only */
  const int *origin;                                     /* original index of each particle */
  uint32_t lo32[3], hi32[3], stay_lo32[3], stay_hi32[3]; /* walls and bounds of mixed layouts, */
  uint32_t safe_lo32[3], safe_span32[3];                 /* and where none of them matters */
  bool has_lo[3], has_hi[3], stays_lo[3], stays_hi[3];
};

/* Magnitudes as words that are ordered like them, as comparing doubles, or converting each, takes longer; and a bound of
 * the magnitude that a word stands for. */
__device__ __forceinline__ unsigned magnitude_word(double a)
{
  return (unsigned)__double2hiint(a) & 0x7fffffffu;
}
__device__ __forceinline__ unsigned magnitude_word(float a) { return __float_as_uint(a) & 0x7fffffffu; }

template <class T> struct drifted {
  typename T::real moved; /* at least the displacement's magnitude */
  bool sane;
};

/* One coordinate of an exact layout. */
template <class T>
__device__ __forceinline__ drifted<T> drift_axis(const system_view<T> &, const step_args &a, int d,
                                                 double time_scale, double &x, double &v)
{
  /* As md_step_drift; within the bounds there is no wall to reflect at, and no step comes near the limit, which is almost
   * always. */
  const double moved = md_drift(v, time_scale, a.motion.round_x);
  x += moved;
  if (x >= a.motion.stay_lo[d] && x <= a.motion.stay_hi[d] &&
      magnitude_word(moved) < magnitude_word(a.motion.move_limit))
    return drifted<T>{fabs(moved), true};
  bool sane = fabs(moved) <= a.motion.move_limit;
  if (!(x >= a.motion.stay_lo[d] && x <= a.motion.stay_hi[d])) {
    if (sane) md_reflect(&x, &v, a.motion.lo[d], a.motion.hi[d], a.motion.quantum);
    sane = sane && x >= a.motion.stay_lo[d] && x <= a.motion.stay_hi[d];
  }
  return drifted<T>{fabs(moved), sane};
}

/* One coordinate of a mixed layout: whole units of the 32-bit scale, mirrored half a unit outside the walls. */
template <class T>
__device__ __forceinline__ drifted<T> drift_axis(const system_view<T> &s, const step_args &a, int d,
                                                 float time_scale, uint32_t &x, float &v)
{
  const float moved = v * time_scale;
  if (!(fabsf(moved) <= a.most_single[d])) return drifted<T>{fabsf(moved), false};
  x += (uint32_t)__float2int_rn(moved * s.scale.per_unit_single[d]);
  if (x - a.safe_lo32[d] <= a.safe_span32[d]) return drifted<T>{fabsf(moved), true};
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
__device__ __forceinline__ float kicked(float v, float kicks, float impulse, double)
{
  return fmaf(kicks, impulse, v);
}

/* With cells: the share of the slack used after a step in which nobody moved more than `word` along an axis. A coordinate
 * on the 32-bit scale is rounded to a unit on the way. */
template <class T>
__device__ __forceinline__ float slack_after(const system_view<T> &s, float before, unsigned word)
{
  float moved;
  if constexpr (T::MIXED) {
    moved = __uint_as_float(word);
    float unit = 0.0f;
    for (int d = 0; d < T::DIM; ++d) unit = fmaxf(unit, s.scale.unit_single[d]);
    moved = __fadd_ru(moved, unit);
  } else {
    moved = __double2float_ru(__hiloint2double((int)word, -1));
  }
  return __fadd_ru(before, __fmul_ru(moved, s.per_slack));
}

/* With lists: the share of the slack used, with the path of the record lengthened by a step. */
template <class T>
__device__ __forceinline__ float slack_used(const system_view<T> &s, float moved2, typename T::particle &x)
{
  const float path = path_of(x) + sqrtf(moved2) * (1.0f + 0x1p-20f);
  set_path(x, path);
  return path_of(x) * s.per_slack;
}

template <class T> __device__ __forceinline__ void note_beyond_slack(const system_view<T> &s, int i)
{
  const unsigned at = atomicAdd(&s.ctl->slot[s.launch % SLOTS].beyond_slack, 1u);
  if (at < MOST_BEYOND_SLACK) s.beyond_slack[at] = i;
}

#endif
