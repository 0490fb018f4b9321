/* min_style fire: the fast inertial relaxation engine, version 2.0.
 *
 * Dynamics with a timestep of its own, from v = 0:
 *   v.f > 0   v turns towards the forces, v = (1 - alpha) v + alpha |v| f/|f|. After more than delaystep such steps dt
 *             grows by dtgrow, up to tmax timesteps of the deck, and alpha shrinks by alphashrink
 *   else      x goes back by half a step (halfstepback), v = 0, alpha = alpha0, and dt shrinks by dtshrink, down to
 *             tmin timesteps; with initialdelay the last two only from step delaystep on
 *   then      a step of the integrator, in which dmax limits dt, and v turns between kick and drift:
 *             eulerimplicit, leapfrog  kick, turn, drift
 *             verlet                   half a kick, turn, drift, half a kick
 *             eulerexplicit            turn, drift, kick
 *
 * More than vdfmax steps in sequence with v.f <= 0 end it. Where v is 0, dmax limits the step that f would make.
 * Cost: an evaluation an iteration, and one more where v was set to 0; one vector.
 * References: Bitzek et al., Phys. Rev. Lett. 97 (2006) 170201; Guenole et al., Comput. Mater. Sci. 175 (2020) 109584;
 * the manual of LAMMPS, min_style and min_modify.
 */
#include "src/minimize/styles/damped.h"

/* Where f.f is not above this, v does not turn, as in LAMMPS. */
#define LEAST_FORCE2 1e-20

typedef struct fire {
  double dt, alpha;
  int64_t first, last_uphill; /* steps */
  int64_t uphill;             /* steps in sequence with v.f <= 0 */
  bool at_rest;               /* v was set to 0 */
  double keep, along;         /* v turns: v = keep v + along f */
  bool turns;
} fire;

static void go_downhill(const md_minimizer *m, const md_damped_sums *sums, fire *s)
{
  const md_min_settings *set = m->set;
  s->uphill = 0;
  s->turns = true;
  s->keep = 1.0 - s->alpha;
  s->along = md_damped_along(sums, s->alpha, LEAST_FORCE2);
  if (m->sim->model.step - s->last_uphill <= set->delaystep) return;
  s->dt = md_min(s->dt * set->dtgrow, set->tmax * m->sim->model.dt);
  s->alpha *= set->alphashrink;
}

/* Sets v to 0, half a step back. */
static md_status turn_back(md_minimizer *m, fire *s)
{
  const md_min_settings *set = m->set;
  const int64_t step = m->sim->model.step;
  s->turns = false;
  s->last_uphill = step;
  if (!set->initialdelay || step - s->first >= set->delaystep) {
    s->alpha = set->alpha0;
    if (s->dt * set->dtshrink >= set->tmin * m->sim->model.dt) s->dt *= set->dtshrink;
  }
  if (set->vdfmax > 0 && ++s->uphill > set->vdfmax) {
    m->stop = MD_MIN_UPHILL_STEPS;
    return MD_OK;
  }
  if (set->halfstepback) MD_TRY(md_minimizer_move(m, 0.0, -0.5 * s->dt, 0.0));
  md_damped_mix(m, 0.0, 0.0);
  s->at_rest = true;
  return MD_OK;
}

/* The timestep that dmax allows. At rest it is that for the velocity after the first kick, as LAMMPS has it. */
static md_status limit(md_minimizer *m, fire *s, double *dt)
{
  if (s->at_rest) {
    ++m->evaluations; /* LAMMPS evaluates here, and its count is kept */
    md_minimizer_kick(m, s->dt);
  }
  MD_TRY(md_damped_limit(m, s->dt, dt));
  if (s->at_rest) md_damped_mix(m, 0.0, 0.0);
  s->at_rest = false;
  return MD_OK;
}

static md_status integrate(md_minimizer *m, const fire *s, double dt)
{
  const md_min_integrator how = m->set->integrator;
  const double before = how == MD_EULER_EXPLICIT ? 0.0 : how == MD_VERLET ? 0.5 * dt : dt;
  if (before > 0.0) md_minimizer_kick(m, before);
  if (s->turns) md_damped_mix(m, s->keep, s->along);
  MD_TRY(md_damped_drift(m, dt, how == MD_EULER_EXPLICIT ? dt : 0.0));
  if (how == MD_VERLET) {
    md_minimizer_kick(m, 0.5 * dt);
    m->stale = true;
  }
  return MD_OK;
}

static md_status iterate(md_minimizer *m)
{
  fire s = {.dt = m->sim->model.dt, .alpha = m->set->alpha0, .at_rest = true};
  s.first = s.last_uphill = m->sim->model.step;
  if (m->set->integrator == MD_LEAPFROG_DAMPED) {
    ++m->evaluations;
    md_minimizer_kick(m, -0.5 * s.dt);
  }
  while (md_minimizer_next(m)) {
    md_damped_sums sums;
    double dt;
    MD_TRY(md_damped_products(m, &sums));
    if (sums.vf > 0.0)
      go_downhill(m, &sums, &s);
    else
      MD_TRY(turn_back(m, &s));
    if (m->stop != MD_MIN_GOES_ON) break;
    MD_TRY(limit(m, &s, &dt));
    MD_TRY(integrate(m, &s, dt));
    MD_TRY(md_damped_test(m, s.last_uphill, m->set->delaystep));
    if (m->stop == MD_MIN_GOES_ON) MD_TRY(md_minimizer_show(m));
  }
  return MD_OK;
}

const md_min_style md_min_fire = {.name = "fire", .dynamics = true, .nvector = 1, .iterate = iterate};
