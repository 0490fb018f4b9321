/* Kick and drift of one particle on the device, and the share of the slack that a particle has used since the rebin.
 *
 * For exact layouts these are the formulas of common/step/motion.h; for mixed layouts the same steps on 32-bit
 * coordinates.
 *
 * With cells, the width of a cell is cutoff + slack. A particle looks for partners around the cell where it is now. But
 * a partner is in the cell where it was at the rebin:
 *
 *        | c - 1 |   c   | c + 1 |      P   particle, now in cell c
 *        |       |  P    |    q  |      q   place of the partner now: within the cutoff of P
 *        |       |       | q0    |      q0  place of the partner at the rebin: within cutoff + slack of P
 *
 * So the stencil around c is enough, as long as no particle has moved farther than the slack along any axis since the
 * rebin. That displacement is at most the sum of the largest displacements of the steps. So no displacement is stored
 * for each particle.
 *
 * With lists, the slack is half the skin. The record of a particle holds the length of its path since the rebin, which
 * bounds its displacement. The list of a fast particle reaches farther by its extra, and its path begins at minus the
 * extra.
 */
#ifndef MD_GPU_MOVE_KICK_DRIFT_CUH
#define MD_GPU_MOVE_KICK_DRIFT_CUH

#include "gpu/neighbour/for_each.cuh"

/* What move kernels need to know of a step. */
struct step_args {
  md_step motion;
  /* how many times the impulse is given before the drift: in the first step, and later */
  double first_kicks, kicks;
  double quantum;          /* of impulses; 1 for mixed layouts */
  int64_t *low[3];         /* second words of wide momenta, by original index; NULL without wide momenta */
  double time_scale;       /* displacement per v of a drift, with one mass */
  float time_scale_single; /* the same for mixed layouts, ... */
  float most_single[3];    /* ... and their largest displacement in a drift */
  const double *velocity_per_v, *mass, *v_step; /* by 0-based subtype */
  int types;                                    /* as in particle_fields */
  const int64_t *id;                            /* by original index; if the model needs ids */
  const uint32_t *group;                        /* by original index: bits of groups; NULL: `all` alone */
  const int *origin;                            /* original index of each particle */
  uint32_t lo32[3], hi32[3], stay_lo32[3], stay_hi32[3]; /* walls and bounds of mixed layouts */
  uint32_t safe_lo32[3], safe_span32[3];                 /* interval in which no wall or bound needs a test */
  bool has_lo[3], has_hi[3], stays_lo[3], stays_hi[3];   /* which walls and bounds there are */
};

/* The magnitude of a number as a word: words have the order of the magnitudes. Comparing words takes less time than
 * comparing doubles or converting them. The word of a double is its upper half, so slack_after() takes the largest
 * double with that upper half. */
__device__ __forceinline__ unsigned magnitude_word(double a)
{
  return (unsigned)__double2hiint(a) & 0x7fffffffu;
}
__device__ __forceinline__ unsigned magnitude_word(float a) { return __float_as_uint(a) & 0x7fffffffu; }

template <class T> struct drifted {
  typename T::real moved; /* at least the magnitude of the displacement */
  bool sane;              /* false: too far, or outside the bounds */
};

/* Drifts one coordinate of an exact layout, as md_step_drift_once() does. */
template <class T>
__device__ __forceinline__ drifted<T> drift_axis(const system_view<T> &, const step_args &a, int d,
                                                 double time_scale, double &x, double &v)
{
  /* This is the usual case: no wall is reached, and the displacement is clearly below the limit. */
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

/* Shifts one coordinate, as md_step_shift() does. */
template <class T>
__device__ __forceinline__ drifted<T> shift_axis(const system_view<T> &, const step_args &a, int, double by,
                                                 double &x)
{
  x += by;
  return drifted<T>{fabs(by), fabs(by) <= a.motion.move_limit};
}
template <class T>
__device__ __forceinline__ drifted<T> shift_axis(const system_view<T> &s, const step_args &a, int d,
                                                 double by, uint32_t &x)
{
  const float moved = (float)by;
  if (!(fabsf(moved) <= a.most_single[d])) return drifted<T>{fabsf(moved), false};
  x += (uint32_t)__float2int_rn(moved * s.scale.per_unit_single[d]);
  return drifted<T>{fabsf(moved), true};
}

/* Drifts one coordinate of a mixed layout, by whole units of the 32-bit scale. A mirror stands half a unit outside a
 * wall. */
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

/* Momentum v after `kicks` times the impulse. */
__device__ __forceinline__ double kicked(double v, double kicks, double impulse, double quantum)
{
  return md_kick(v, kicks * impulse, quantum);
}
__device__ __forceinline__ float kicked(float v, float kicks, float impulse, double)
{
  return fmaf(kicks, impulse, v);
}

/* With cells: the share of the slack that is used after a step in which no particle moved farther than `word` along an
 * axis. before: the share before the step. On the 32-bit scale a displacement is rounded to a unit, so a unit is
 * added. */
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
  return __fadd_ru(before, __fmul_ru(moved, s.slack.usage_per_distance));
}

/* Notes that particle i is beyond the slack, for the list check. If there are more such particles than places for them,
 * they are only counted. */
template <class T> __device__ __forceinline__ void note_beyond_slack(const system_view<T> &s, int i)
{
  const unsigned at = atomicAdd(&s.ctl->slot[s.launch % SLOTS].beyond_slack, 1u);
  if (at < MOST_BEYOND_SLACK) s.slack.beyond[at] = i;
}

/* The path of a particle whose record has `path`. */
template <class T> __device__ __forceinline__ float whole_path(const system_view<T> &s, float path)
{
  return T::PACKED ? path + s.slack.common_path : path;
}

/* With lists: lengthens the path in the record of particle i by a step, and returns the share of the slack that is
 * used. moved2: the squared displacement in this step. */
template <class T>
__device__ __forceinline__ float slack_used(const system_view<T> &s, int i, float moved2,
                                            typename T::particle &x)
{
  set_path(x, path_of(x) + sqrtf(moved2) * (1.0f + 0x1p-20f));
  const float path = whole_path<T>(s, path_of(x));
  if (path > s.slack.most && s.slack.beyond) note_beyond_slack(s, i);
  return path * s.slack.usage_per_distance;
}

/* The extra of a particle with velocity v: the part of its expected path that is beyond the slack. If the particle
 * goes farther, the lists end sooner, and nothing else happens. */
template <class T>
static __device__ __forceinline__ float extra_of(const system_view<T> &s, int type,
                                                 const typename T::real v[3])
{
  if (!(s.slack.extra > 0.0f)) return 0.0f;
  float speed2 = 0.0f;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) speed2 = fmaf((float)v[d], (float)v[d], speed2);
  const float path = sqrtf(speed2) * (float)s.slack.velocity_per_v[type] * s.slack.foresight;
  return fminf(fmaxf(path - s.slack.most, 0.0f), s.slack.extra);
}

#endif
