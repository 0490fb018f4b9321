/* The step, stated once: what happens to every particle between two states, and in which order. Every engine runs this.
 *
 *   1  force   impulses of the pairs at the present positions       if kicks_before > 0
 *   2  kick    v += kicks_before impulses
 *   3  drift   x += v dt, reflected at walls                        if moves
 *              with a thermostat: half a drift, Ornstein-Uhlenbeck, half a drift, each half reflected (the BAOAB order of
 *              Leimkuhler and Matthews, Appl. Math. Res. Express 2013, 34)
 *   4  force   impulses at the new positions                        if kicks_after > 0
 *   5  kick    v += kicks_after impulses
 *
 *   integrator            kicks_before  kicks_after  moves   an impulse is the force times
 *   nve                   1             1            yes     dt/2 (velocity Verlet)
 *   nve/leapfrog          1             0            yes     dt
 *   nve/leapfrog mirror   0             1            yes     dt (the time reversal of the line above)
 *   none                  0             0            no
 *
 * Kick 5 and kick 2 of the next step are by the same impulses, so an engine may give both at once. Every addition is of
 * grid multiples and therefore exact, so that a run with the velocities reversed returns to the same bits. `v` is
 * p/m_reference (model.h); of a wide momentum, its first word. C and CUDA.
 */
#ifndef MD_COMMON_STEP_H
#define MD_COMMON_STEP_H

#include "common/model.h"
#include "common/motion.h"
#include "common/rng.h"

typedef struct md_step {
  int kicks_before, kicks_after;
  bool moves;
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
  double keep, mass_reference;
  double t_start, t_stop; /* the thermostat's temperature at the first and the last step of the run ... */
  int64_t ramp_done, ramp_span; /* ... of which this step has so many behind it, and which has so many */
  uint64_t seed, number;        /* of random numbers: the thermostat's, and the step that this one leaves */
} md_step;

/* The step that leaves model->step, of a prepared model. */
static inline md_step md_step_of(const md_model *model)
{
  const md_integrator integrator = model->integrator;
  md_step s = {.kicks_before = integrator == MD_NVE || integrator == MD_LEAPFROG ? 1 : 0,
               .kicks_after = integrator == MD_NVE || integrator == MD_LEAPFROG_MIRROR ? 1 : 0,
               .moves = integrator != MD_STATIC,
               .dim = model->box.dim,
               .time = model->langevin.on ? 0.5 * model->dt : model->dt,
               .round_x = model->float_drift ? 0.0 : MD_ROUND * model->grids.x,
               .quantum = model->float_drift ? 0.0 : model->grids.x,
               .move_limit = model->move_limit,
               .thermostat = model->langevin.on,
               .keep = model->langevin_keep,
               .mass_reference = model->mass_reference,
               .t_start = model->langevin.t_start,
               .t_stop = model->langevin.t_stop,
               .ramp_done = model->step - model->run_begin,
               .ramp_span = model->run_end - model->run_begin,
               .seed = model->langevin.seed,
               .number = (uint64_t)model->step};
  for (int d = 0; d < 3; ++d) {
    s.lo[d] = model->wall[d][0] ? model->wall_at[d][0] : (double)-INFINITY;
    s.hi[d] = model->wall[d][1] ? model->wall_at[d][1] : (double)INFINITY;
    s.stay_lo[d] = model->box.periodic[d] ? s.lo[d] : md_max(s.lo[d], model->box.lo[d]);
    s.stay_hi[d] = model->box.periodic[d] ? s.hi[d] : md_min(s.hi[d], model->box.hi[d]);
    s.box_lo[d] = model->box.lo[d];
    s.box_hi[d] = model->box.hi[d];
    s.length[d] = model->box.length[d];
    s.periodic[d] = model->box.periodic[d];
  }
  return s;
}

/* What the drift of one particle needs besides the step: constants of its type, and its random numbers. */
typedef struct md_mover {
  double time_scale; /* time * velocity_per_v of its type */
  double noise;      /* amplitude, and the numbers; with a thermostat only */
  double round_v;    /* MD_ROUND * v_step of its type */
  md_random random;
} md_mover;

/* For the particle of that id, `done` steps behind the one that `s` was made for. */
MD_FN md_mover md_step_mover(const md_step *s, double velocity_per_v, double mass, double v_step, uint64_t id,
                             int64_t done)
{
  md_mover m = {s->time * velocity_per_v, 0.0, 0.0, {{0}}};
  if (!s->thermostat) return m;
  const double temperature = md_langevin_ramp(s->t_start, s->t_stop, s->ramp_done + done, s->ramp_span);
  m.noise = md_langevin_noise(temperature, s->keep, mass, s->mass_reference);
  m.round_v = MD_ROUND * v_step;
  m.random = md_random_at(s->seed, id, s->number + (uint64_t)done, MD_STREAM_LANGEVIN);
  return m;
}

/* One drift along one axis, with its reflection. Returns the displacement; one beyond move_limit (or NaN) ends the move at
 * once, so that a reflection cannot go on forever. */
MD_FN double md_step_drift_once(const md_step *s, int d, double time_scale, double *x, double *v)
{
  const double moved = md_drift(*v, time_scale, s->round_x);
  *x += moved;
  if (!(fabs(moved) <= s->move_limit)) return moved;
  if (*x < s->lo[d] || *x > s->hi[d]) md_reflect(x, v, s->lo[d], s->hi[d], s->quantum);
  return moved;
}

/* Point 3 for one coordinate. low: the second word of a wide momentum, or NULL.
 * Returns the larger displacement of the step's drifts, and stops at one beyond move_limit. */
MD_FN double md_step_drift(const md_step *s, int d, const md_mover *m, double *x, double *v, int64_t *low)
{
  const double before = *v;
  double moved = md_step_drift_once(s, d, m->time_scale, x, v);
  if (s->thermostat && fabs(moved) <= s->move_limit) {
    *v = md_thermalise(*v, s->keep, m->noise, md_random_unit(m->random.word[d]), m->round_v);
    const double more = md_step_drift_once(s, d, m->time_scale, x, v);
    if (fabs(more) > fabs(moved) || !(fabs(more) <= s->move_limit)) moved = more;
  }
  if (low) *low = s->thermostat ? 0 : md_momentum_turned(before, *v, *low);
  return moved;
}

/* May a particle be at x along axis d after a drift by `moved`? If not, it is a runaway. */
MD_FN bool md_step_allows(const md_step *s, int d, double moved, double x)
{
  return fabs(moved) <= s->move_limit && x >= s->stay_lo[d] && x <= s->stay_hi[d];
}

/* Points 2 and 5 for one coordinate: adds `impulse` quanta, a whole number. low, v_step: of a wide momentum; low is NULL
 * without. */
MD_FN void md_step_kick(double impulse, double quantum, double v_step, double *v, int64_t *low)
{
  if (low)
    md_kick_wide(v, low, impulse, quantum, v_step);
  else
    *v = md_kick(*v, impulse, quantum);
}

#endif
