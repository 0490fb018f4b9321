/* How particles enter the grids of a model and leave them; see model.h.
 *
 * A velocity that leaves is the double from which the same momentum is made again, so that runs that follow each other
 * lose no bit. Cost: O(particles), on all threads.
 */
#include "common/model.h"

#include <stdio.h>

/* The exact product a b, rounded to a multiple of q, a power of two. If the product as a double lies half way between
 * two multiples, the rest that this double lacks decides between them. */
static double round_product_to(double a, double b, double q)
{
  const double scaled = a / q, product = scaled * b, rest = fma(scaled, b, -product);
  double whole = rint(product);
  if (product - whole == 0.5 && rest > 0.0) whole += 1.0;
  if (product - whole == -0.5 && rest < 0.0) whole -= 1.0;
  return whole * q;
}

/* The exact product a b, rounded to a count of quanta q. The count may exceed 2^53. */
static md_int128 count_product(double a, double b, double q)
{
  const double scaled = a / q, product = scaled * b, rest = fma(scaled, b, -product);
  const double whole = rint(product);
  return (md_int128)whole + (md_int128)rint((product - whole) + rest);
}

/* Notes that the recorded message is about a particle. */
static md_status about(int64_t id, md_status status)
{
  md_error_about(id, id);
  return status;
}

/* Makes the momentum of particle i along axis d from its velocity. */
static void enter_velocity(const md_model *model, md_particles *p, int d, int64_t i)
{
  const md_inertia inertia = md_inertia_of(model, p, i);
  const double q = model->grids.v, mass_ratio = 1.0 / inertia.velocity_per_v;
  double *v = &p->v[d][i];
  if (model->wide)
    md_momentum_split(count_product(*v, mass_ratio, q) + p->v_low[d][i], q, inertia.v_step, v,
                      &p->v_low[d][i]);
  else
    *v = model->one_mass ? md_round_to(*v, q) : round_product_to(*v, mass_ratio, q);
}

static md_status too_fast(const md_model *model, int64_t id, int axis, double speed)
{
  const double dt = model->dt, limit = model->speed_limit, safe = 0.1 * dt * limit / speed;
  char advice[160];
  if (!(speed < 0.5 * model->speed_most))
    snprintf(advice, sizeof advice, "with these interactions no timestep allows more than %.3g",
             model->speed_most);
  else if (safe < 1e-3 * dt && model->reach > 0.0)
    snprintf(advice, sizeof advice,
             "a particle may move at most 8 cutoffs of %.3g in one step: use a larger cutoff, or a timestep "
             "below %.3g",
             model->reach, safe);
  else
    snprintf(advice, sizeof advice, "use a timestep below %.3g", safe);
  return md_error(
      MD_PHYSICS,
      "step %lld: particle %lld has speed %g along %c and would move %g in one step; the limit is a "
      "speed of %.3g: %s",
      (long long)model->step, (long long)id, speed, "xyz"[axis], speed * dt, limit, advice);
}

/* Gives particles second words if momenta are wide. The counts that an earlier run left in v_low are kept if they have
 * the same unit, and set to zero otherwise. */
static md_status widen_particles(const md_model *model, md_particles *p)
{
  const double unit = model->wide ? model->grids.v * model->mass_reference : 0.0;
  if (p->wide && p->v_low_unit != unit) MD_TRY(md_particles_widen(p, false));
  MD_TRY(md_particles_widen(p, model->wide));
  p->v_low_unit = unit;
  return MD_OK;
}

/* The velocities of pair forces: those that an earlier run left, or the present ones. */
static md_status enter_pair_velocities(const md_model *model, md_particles *p)
{
  const bool kept = p->has_v_pair;
  MD_TRY(md_particles_make_v_pair(p, md_pair_is_dissipative(&model->pair)));
  if (kept || !p->has_v_pair) return MD_OK;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) md_model_note_velocity(model, p, i);
  return MD_OK;
}

/* Enters positions and velocities along axis d. out: how far beyond the faces a position may be, along each axis.
 * Returns the least id of a particle that cannot enter, or INT64_MAX. */
static int64_t enter_axis(const md_model *model, md_particles *p, int d, const double out[3])
{
  const md_box *box = &model->box;
  const double qx = model->grids.x, speed_limit = model->speed_limit;
  const double lo = box->lo[d], hi = box->hi[d], length = box->length[d], least = lo - out[d],
               most = hi + out[d];
  const bool wraps = box->periodic[d] && !box->triclinic;
  double *restrict x = p->x[d];
  const double *v = p->v[d];
  int64_t bad = INT64_MAX;
#pragma omp parallel for schedule(static) reduction(min : bad)
  for (int64_t i = 0; i < p->n; ++i) {
    /* Faces are on the grid already: a particle on one is rounded as the face was. */
    const double at = md_round_to(x[i], qx);
    const bool sane = at >= least && at <= most;
    if (!sane || !(fabs(v[i]) <= speed_limit)) {
      if (p->id[i] < bad) bad = p->id[i];
      continue;
    }
    if (!model->float_drift) x[i] = at;
    /* An anchor is a place where a particle was before its position was rounded. */
    if (p->anchored && !model->float_drift) p->anchor[d][i] = md_round_to(p->anchor[d][i], qx);
    if (wraps) x[i] = md_wrap(x[i], lo, hi, length);
    enter_velocity(model, p, d, i);
    /* -0 becomes 0: engines differ in whether they add nothing to it. */
    x[i] += 0.0;
    p->v[d][i] += 0.0;
  }
  return bad;
}

/* Why the particle `bad` cannot enter. */
static md_status entry_error(const md_model *model, const md_particles *p, int64_t bad)
{
  const int dim = model->box.dim;
  int64_t i = 0;
  while (p->id[i] != bad) ++i;
  for (int d = 0; d < dim; ++d)
    if (!(fabs(p->v[d][i]) <= model->speed_limit))
      return about(bad, too_fast(model, bad, d, fabs(p->v[d][i])));
  return about(bad, md_error(MD_PHYSICS,
                             "step %lld: particle %lld at (%g, %g, %g) is outside the box or not a number",
                             (long long)model->step, (long long)bad, p->x[0][i], p->x[1][i],
                             dim == 3 ? p->x[2][i] : 0.0));
}

md_status md_model_enter(const md_model *model, md_particles *p)
{
  const md_box *box = &model->box;
  int64_t bad = INT64_MAX;
  double out[3];
  MD_TRY(widen_particles(model, p));
  md_box_image_reach(box, out);
  for (int d = 0; d < box->dim; ++d) {
    const int64_t found = enter_axis(model, p, d, out);
    if (found < bad) bad = found;
  }
  if (bad != INT64_MAX) return entry_error(model, p, bad);
  if (box->triclinic) md_particles_wrap(p, box);
  return enter_pair_velocities(model, p);
}

/* The velocity from which md_model_enter makes the momentum p again. Where p is large, the velocity nearest to the
 * exact quotient may give a momentum that differs from p by a quantum. The momenta of neighbouring doubles are at
 * most a quantum apart. So a neighbour of this velocity gives p. */
static double velocity_of(double p, double velocity_per_v, double q)
{
  const double mass_ratio = 1.0 / velocity_per_v;
  double v = p * velocity_per_v;
  while (round_product_to(v, mass_ratio, q) < p) v = nextafter(v, (double)INFINITY);
  while (round_product_to(v, mass_ratio, q) > p) v = nextafter(v, -(double)INFINITY);
  return v;
}

/* Makes of a wide momentum the velocity as a double in v, and in v_low the quanta that this velocity lacks. */
static void leave_wide(const md_model *model, md_particles *p, int d, int64_t i)
{
  const md_inertia inertia = md_inertia_of(model, p, i);
  const double q = model->grids.v, velocity_per_v = inertia.velocity_per_v;
  double *v = &p->v[d][i];
  int64_t *low = &p->v_low[d][i];
  const md_int128 count = md_momentum_count(*v, *low, q, inertia.v_step);
  *v = md_momentum_value(*v, *low, q) * velocity_per_v;
  *low = (int64_t)(count - count_product(*v, 1.0 / velocity_per_v, q));
}

void md_model_leave(const md_model *model, md_particles *p)
{
  md_particles_show(p, &model->box);
  if (model->one_mass && !model->wide) return;
  for (int d = 0; d < model->box.dim; ++d) {
    double *v = p->v[d];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; ++i) {
      if (model->wide)
        leave_wide(model, p, d, i);
      else
        v[i] = velocity_of(v[i], md_inertia_of(model, p, i).velocity_per_v, model->grids.v);
    }
  }
}

double md_model_velocity(const md_model *model, const md_particles *p, int d, int64_t i)
{
  const int64_t low = p->wide ? p->v_low[d][i] : 0;
  return md_momentum_value(p->v[d][i], low, model->grids.v) * md_inertia_of(model, p, i).velocity_per_v;
}
