/* Moving and measuring one particle: kick, drift, thermostat, reflection; for every engine, C and CUDA.
 *
 * A step kicks the velocities by the impulses of the present forces, drifts (with a thermostat: half a drift,
 * Ornstein-Uhlenbeck, half a drift, the BAOAB order of Leimkuhler and Matthews, Appl. Math. Res. Express 2013,
 * 34) and reflects at the walls. Every addition is of grid multiples and therefore exact, so that running back
 * returns to the same bits. `v` is p/m_reference (model.h); of a wide momentum, its first word.
 */
#ifndef MD_COMMON_MOTION_H
#define MD_COMMON_MOTION_H

#include "common/exact.h"
#include "common/model.h"
#include "common/rng.h"

/* v plus `impulse` quanta. */
MD_FN double md_kick(double v, double impulse, double quantum) { return fma(impulse, quantum, v); }

/* A wide momentum of `count` quanta as its two words: v to the nearest v_step, halves away from zero, so that the momentum
 * of opposite sign has the words of opposite sign. Both steps are powers of two. */
MD_FN void md_momentum_split(md_int128 count, double quantum, double v_step, double *v, int64_t *low)
{
  const int bits = (int)((md_bits(v_step) - md_bits(quantum)) >> 52);
  const md_int128 half = bits > 0 ? (md_int128)1 << (bits - 1) : 0;
  const md_int128 size = count < 0 ? -count : count, steps = (size + half) >> bits;
  const int64_t rest = (int64_t)(size - steps * ((md_int128)1 << bits));
  *v = (count < 0 ? -(double)(int64_t)steps : (double)(int64_t)steps) * v_step;
  *low = count < 0 ? -rest : rest;
}

/* The quanta of a momentum's two words. */
MD_FN md_int128 md_momentum_count(double v, int64_t low, double quantum, double v_step)
{
  const int bits = (int)((md_bits(v_step) - md_bits(quantum)) >> 52);
  return (md_int128)md_count(v / v_step) * ((md_int128)1 << bits) + low;
}

/* A wide momentum plus `impulse` quanta, a whole number. */
MD_FN void md_kick_wide(double *v, int64_t *low, double impulse, double quantum, double v_step)
{
  const md_int128 count = md_momentum_count(*v, *low, quantum, v_step) + md_count(impulse);
  md_momentum_split(count, quantum, v_step, v, low);
}

/* Keeps the second word with the first, which a move may have turned round. */
MD_FN int64_t md_momentum_turned(double before, double after, int64_t low)
{
  return (before < 0.0) != (after < 0.0) ? -low : low;
}

/* The displacement of a drift: time_scale = time * velocity_per_v, rounder = MD_ROUND * grids.x, or 0 for the
 * product as double arithmetic rounds it. */
MD_FN double md_drift(double v, double time_scale, double rounder)
{
  return fma(v, time_scale, rounder) - rounder;
}

/* Ornstein-Uhlenbeck over one step: u uniform in (0,1), rounder = MD_ROUND * v_step. */
MD_FN double md_thermalise(double v, double keep, double noise, double u, double rounder)
{
  return md_quantise(fma(keep, v, noise * (u - 0.5)), rounder);
}

/* Elastic reflection at lo and hi (either may be infinite), repeated while outside. The mirrors stand half a
 * quantum outside, x -> 2 lo - q - x, so that no grid point is its own image: a particle exactly on the wall
 * would otherwise come back from a reversed run with the wrong sign of v. */
MD_FN void md_reflect(double *x, double *v, double lo, double hi, double quantum)
{
  while (*x < lo || *x > hi) {
    *x = *x < lo ? (lo - *x) + (lo - quantum) : (hi - *x) + (hi + quantum);
    *v = -*v;
  }
}

/* Amplitude of the thermostat's noise for a mass: variance T (1 - keep^2)/m of the velocity, drawn uniformly. */
MD_FN double md_langevin_noise(double temperature, double keep, double mass, double mass_reference)
{
  return sqrt(12.0 * temperature * (1.0 - keep * keep) * mass) / mass_reference;
}

/* Kinetic energy from v2 = |v|^2, in energy units. */
MD_FN double md_kinetic(double v2, double velocity_per_v, double mass_reference)
{
  return 0.5 * mass_reference * velocity_per_v * v2;
}

/* What the moves of one step have in common. */
typedef struct md_motion {
  int dim;
  double time; /* of one drift: dt, or dt/2 with a thermostat */
  double round_x;
  double quantum;                /* of positions; 0 with plain doubles */
  double lo[3], hi[3];           /* reflecting walls, or infinite */
  double stay_lo[3], stay_hi[3]; /* bounds after a move: the walls, a box that is not periodic, or infinite */
  double box_lo[3], box_hi[3], length[3];
  bool periodic[3];
  double move_limit;
  bool thermostat;
  double keep, temperature;
  uint64_t seed, step;
} md_motion;

/* For the step that leaves model->step. */
static inline md_motion md_motion_of(const md_model *model)
{
  md_motion m = {.dim = model->box.dim,
                 .time = model->langevin.on ? 0.5 * model->dt : model->dt,
                 .round_x = model->float_drift ? 0.0 : MD_ROUND * model->grids.x,
                 .quantum = model->float_drift ? 0.0 : model->grids.x,
                 .move_limit = model->move_limit,
                 .thermostat = model->langevin.on,
                 .keep = model->langevin_keep,
                 .seed = model->langevin.seed,
                 .step = (uint64_t)model->step};
  if (m.thermostat) m.temperature = md_model_langevin_temperature(model, model->step);
  for (int d = 0; d < 3; ++d) {
    m.lo[d] = model->wall[d][0] ? model->wall_at[d][0] : (double)-INFINITY;
    m.hi[d] = model->wall[d][1] ? model->wall_at[d][1] : (double)INFINITY;
    m.stay_lo[d] = model->box.periodic[d] ? m.lo[d] : md_max(m.lo[d], model->box.lo[d]);
    m.stay_hi[d] = model->box.periodic[d] ? m.hi[d] : md_min(m.hi[d], model->box.hi[d]);
    m.box_lo[d] = model->box.lo[d];
    m.box_hi[d] = model->box.hi[d];
    m.length[d] = model->box.length[d];
    m.periodic[d] = model->box.periodic[d];
  }
  return m;
}

/* One drift along one axis, with its reflection. Returns the displacement; one beyond move_limit (or NaN) ends
 * the move at once, so that a reflection cannot go on forever. */
MD_FN double md_motion_drift(const md_motion *m, int d, double time_scale, double *x, double *v)
{
  const double moved = md_drift(*v, time_scale, m->round_x);
  *x += moved;
  if (!(fabs(moved) <= m->move_limit)) return moved;
  if (*x < m->lo[d] || *x > m->hi[d]) md_reflect(x, v, m->lo[d], m->hi[d], m->quantum);
  return moved;
}

/* What a thermostat does to one particle. */
typedef struct md_thermal_noise {
  double amplitude;
  double round_v; /* MD_ROUND * v_step of its type */
  md_random random;
} md_thermal_noise;

/* Moves one coordinate by one step; noise: with a thermostat only.
 * Returns the larger displacement of the step's drifts, and stops at one beyond move_limit. */
MD_FN double md_motion_axis(const md_motion *m, int d, double time_scale, const md_thermal_noise *noise,
                            double *x, double *v)
{
  const double moved = md_motion_drift(m, d, time_scale, x, v);
  if (!m->thermostat || !(fabs(moved) <= m->move_limit)) return moved;
  *v = md_thermalise(*v, m->keep, noise->amplitude, md_random_unit(noise->random.word[d]), noise->round_v);
  const double more = md_motion_drift(m, d, time_scale, x, v);
  return fabs(more) > fabs(moved) || !(fabs(more) <= m->move_limit) ? more : moved;
}

/* p/m_reference from the two words of a wide momentum, rounded. */
MD_FN double md_momentum_value(double v, int64_t low, double quantum) { return fma((double)low, quantum, v); }

/* Adds one particle's kinetic energy and momentum to a measure. */
static inline void md_motion_measure(const md_model *model, const md_particles *p, int64_t i, md_measure *m)
{
  const double quantum = model->grids.v, v_step = model->v_step[p->type[i]];
  double v2 = 0.0;
  for (int d = 0; d < p->dim; ++d) {
    const int64_t low = p->wide ? p->v_low[d][i] : 0;
    const double v = md_momentum_value(p->v[d][i], low, quantum);
    v2 = fma(v, v, v2);
    md_wide_add(&m->momentum[d], md_momentum_count(p->v[d][i], low, quantum, v_step));
  }
  const double kinetic = md_kinetic(v2, model->velocity_per_v[p->type[i]], model->mass_reference);
  md_fine sum = {0, 0};
  md_fine_add(&sum, kinetic / (model->grids.k * MD_FINE));
  md_wide_add(&m->kinetic, md_fine_count(sum));
}

/* The thermostat's temperature `done` steps into a run of `span` steps: a linear ramp. */
MD_FN double md_langevin_ramp(double t_start, double t_stop, int64_t done, int64_t span)
{
  return span > 0 ? t_start + (t_stop - t_start) * ((double)done / (double)span) : t_stop;
}

#endif
