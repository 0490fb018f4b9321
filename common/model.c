/* Preparing a model: checks, grids, coefficient tables; entering and leaving the grids; see model.h.
 *
 * The grids follow from the model alone, by operations with the same bits on every machine, so that every
 * engine and every rank chooses the same ones.
 */
#include "common/model.h"
#include "common/motion.h"

#include <stdlib.h>

void md_model_init(md_model *model)
{
  *model = (md_model){.ntypes = 0, .dt = 0.005, .skin = 0.3, .pair = {.kind = MD_PAIR_NONE}};
  model->box.dim = 3;
  for (int d = 0; d < 3; ++d) model->box.periodic[d] = true;
}

static void free_tables(md_model *model)
{
  free(model->impulse_k);
  free(model->force_k);
  free(model->overlap2);
  model->impulse_k = model->force_k = model->overlap2 = NULL;
}

void md_model_free(md_model *model)
{
  free_tables(model);
  md_pair_free(&model->pair);
}

/* The least power of two >= a, a > 0. */
static double power_above(double a)
{
  int exponent;
  const double fraction = frexp(a, &exponent);
  return ldexp(1.0, fraction == 0.5 ? exponent - 1 : exponent);
}

/* x rounded to a multiple of q, a power of two: for any x, unlike md_quantise. */
static double round_to(double x, double q) { return rint(x / q) * q; }

static md_status check_box(const md_box *box)
{
  for (int d = 0; d < box->dim; ++d)
    if (!(box->hi[d] > box->lo[d]) || !isfinite(box->hi[d] - box->lo[d]))
      return md_error(MD_USAGE, "there is no box yet, or it is empty: lo %g, hi %g along %c", box->lo[d],
                      box->hi[d], "xyz"[d]);
  return MD_OK;
}

static md_status prepare_box(md_model *model)
{
  md_box *box = &model->box;
  double extent = 0.0, longest = 0.0;
  for (int d = 0; d < box->dim; ++d) {
    longest = md_max(longest, box->hi[d] - box->lo[d]);
    extent = md_max(extent, md_max(fabs(box->lo[d]), fabs(box->hi[d])));
  }
  bool images = false;
  for (int d = 0; d < box->dim; ++d) images = images || box->periodic[d];
  if (model->float_drift && images)
    return md_error(MD_USAGE, "fix nve/leapfrog drift float needs a box without periodic axes");
  model->move_limit = 0.25 * longest;
  /* Ghosts reach at most one box length beyond the box, and a particle one move before it is reflected. */
  model->grids.x = power_above(extent + (images ? longest : model->move_limit)) * 0x1p-53;
  /* In a volume 42 bits tell neighbours apart, so that three coordinates fit into 16 bytes (gpu/layout.cuh): 2^42
   * quanta are three cutoffs or more. */
  if (box->dim == 3 && model->cutoff > 0.0 && !model->float_drift)
    model->grids.x = md_max(model->grids.x, power_above(1.5 * model->cutoff) * 0x1p-41);
  const double q = model->grids.x;
  for (int d = 0; d < box->dim; ++d) {
    box->lo[d] = round_to(box->lo[d], q);
    box->hi[d] = round_to(box->hi[d], q);
    box->length[d] = box->hi[d] - box->lo[d];
    if (!(box->length[d] > 0.0))
      return md_error(MD_USAGE, "the box is too thin along %c to be resolved next to its other sides",
                      "xyz"[d]);
    for (int side = 0; side < 2; ++side) {
      if (!model->wall[d][side]) continue;
      double *at = &model->wall_at[d][side];
      *at = round_to(*at, q);
      if (!(*at >= box->lo[d] && *at <= box->hi[d]))
        return md_error(MD_USAGE, "fix wall/reflect: the wall at %c = %g lies outside the box", "xyz"[d],
                        *at);
    }
    if (model->wall[d][0] && model->wall[d][1] && !(model->wall_at[d][0] < model->wall_at[d][1]))
      return md_error(MD_USAGE, "fix wall/reflect: the lower wall along %c is not below the upper one",
                      "xyz"[d]);
  }
  if (box->dim == 2) box->length[2] = box->hi[2] - box->lo[2];
  return MD_OK;
}

static md_status prepare_masses(md_model *model)
{
  for (int t = 1; t <= model->ntypes; ++t)
    if (!(model->mass[t] > 0.0)) return md_error(MD_USAGE, "type %d has no mass: add `mass %d VALUE`", t, t);
  model->mass_reference = 0.0;
  for (int t = 1; t <= model->ntypes; ++t)
    model->mass_reference = md_max(model->mass_reference, model->mass[t]);
  model->one_mass = true;
  for (int t = 1; t <= model->ntypes; ++t) {
    model->velocity_per_v[t] = model->mass_reference / model->mass[t];
    if (model->mass[t] != model->mass_reference) model->one_mass = false;
  }
  return MD_OK;
}

/* The distance below which the impulse of a pair exceeds `range` quanta, found by walking inwards from the
 * cutoff; zero for styles whose force stays in range. largest: energy, virial and force met on the way. */
static double closest_approach(const md_model *model, const double *k, double range, double largest[3])
{
  const double rc = sqrt(k[0]);
  double reached = rc;
  for (double r = rc * (1.0 - 0x1p-20); r > rc * 0x1p-24; r *= 1.0 - 0x1p-6) {
    const double r2 = r * r;
    const double impulse = fabs(md_pair_force(model->pair.kind, r2, k) * r);
    if (!(impulse < range)) return reached;
    reached = r;
    const double force = impulse * (model->grids.v * model->mass_reference / model->kick_time);
    largest[0] = md_max(largest[0], fabs(md_pair_energy(model->pair.kind, r2, k)));
    largest[1] = md_max(largest[1], force * r);
    largest[2] = md_max(largest[2], force);
  }
  return 0.0;
}

static md_status prepare_pair(md_model *model)
{
  md_box *box = &model->box;
  for (int d = 0; d < box->dim; ++d)
    if (box->periodic[d] && model->cutoff > 0.5 * box->length[d])
      return md_error(MD_USAGE,
                      "the cutoff %g is larger than half of the periodic box along %c (%g): use a larger box",
                      model->cutoff, 'x' + d, box->length[d]);
  free_tables(model);
  const long long npair = (long long)model->ntypes * model->ntypes;
  MD_TRY(md_array_new_zero(&model->impulse_k, npair * MD_PAIR_K, sizeof(double), "pair coefficients"));
  MD_TRY(md_array_new_zero(&model->force_k, npair * MD_PAIR_K, sizeof(double), "pair coefficients"));
  MD_TRY(md_array_new_zero(&model->overlap2, npair, sizeof(double), "pair coefficients"));
  double largest[3] = {0x1p-40, 0x1p-40, 0x1p-40};
  model->close2 = 0.0;
  if (model->pair.kind != MD_PAIR_NONE) {
    md_pair_table(&model->pair, model->kick_time / (model->mass_reference * model->grids.v),
                  model->impulse_k);
    for (long long p = 0; p < npair; ++p) {
      const double *k = model->impulse_k + p * MD_PAIR_K;
      const double near = closest_approach(model, k, MD_ROUND_RANGE, largest);
      const double nearest = closest_approach(model, k, 0x1p52, largest);
      model->close2 = md_max(model->close2, near * near);
      model->overlap2[p] = nearest * nearest;
    }
  }
  model->grids.e = power_above(largest[0]) * 0x1p-50;
  model->grids.w = power_above(largest[1]) * 0x1p-50;
  model->grids.f = power_above(largest[2]) * 0x1p-50;
  if (model->pair.kind != MD_PAIR_NONE) md_pair_table(&model->pair, 1.0 / model->grids.f, model->force_k);
  return MD_OK;
}

md_status md_model_prepare(md_model *model)
{
  if (model->ntypes < 1) return md_error(MD_USAGE, "there is no box yet: use create_box or read_data first");
  MD_TRY(check_box(&model->box));
  MD_TRY(prepare_masses(model));
  MD_TRY(md_pair_complete(&model->pair));
  model->cutoff = md_pair_cutoff(&model->pair);
  MD_TRY(prepare_box(model));
  model->kick_time = model->integrator == MD_LEAPFROG || model->integrator == MD_LEAPFROG_MIRROR
                         ? model->dt
                         : 0.5 * model->dt;
  /* Plain double positions see finer velocities than a position grid does: leave them those bits, by a limit
   * that physics sets. */
  if (model->float_drift) model->move_limit = md_max(0.25 * model->cutoff, 0x1p-20 * model->move_limit);
  model->grids.v = power_above(model->move_limit / model->dt) * 0x1p-53;
  MD_TRY(prepare_pair(model));
  const double fastest = model->move_limit / model->dt;
  model->grids.k = md_max(model->grids.e, power_above(model->mass_reference * fastest * fastest) * 0x1p-60);
  if (model->langevin.on) {
    /* The Pade form of exp(-dt/damp): no transcendental, and fluctuation-dissipation holds exactly. */
    const double a = 0.5 * model->dt / model->langevin.damp;
    model->langevin_keep = (1.0 - a) / (1.0 + a);
    if (model->integrator != MD_NVE)
      return md_error(MD_USAGE, "fix langevin needs fix nve to move the particles");
    if (!(a < 1.0)) return md_error(MD_USAGE, "fix langevin: damp must be larger than half a timestep");
  }
  return MD_OK;
}

/* a b rounded to a multiple of q, a power of two, from the exact product: where the rounded one lies half way between two
 * multiples, what its rounding left away decides. */
static double round_product_to(double a, double b, double q)
{
  const double scaled = a / q, product = scaled * b, rest = fma(scaled, b, -product);
  double whole = rint(product);
  if (product - whole == 0.5 && rest > 0.0) whole += 1.0;
  if (product - whole == -0.5 && rest < 0.0) whole -= 1.0;
  return whole * q;
}

static md_status about(int64_t id, md_status status)
{
  md_error_about(id, id);
  return status;
}

md_status md_model_enter(const md_model *model, md_particles *p)
{
  const md_box *box = &model->box;
  const double qx = model->grids.x, qv = model->grids.v;
  const double speed_limit = model->move_limit / model->dt;
  int64_t bad = INT64_MAX;
  for (int d = 0; d < box->dim; ++d) {
    const double lo = box->lo[d], hi = box->hi[d], length = box->length[d];
    const bool periodic = box->periodic[d];
    double *restrict x = p->x[d], *restrict v = p->v[d];
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int64_t i = 0; i < p->n; ++i) {
      const double mass_ratio = 1.0 / model->velocity_per_v[p->type[i]];
      const bool sane = periodic ? x[i] >= lo - length && x[i] <= hi + length : x[i] >= lo && x[i] <= hi;
      if (!sane || !(fabs(v[i]) <= speed_limit)) {
        if (p->id[i] < bad) bad = p->id[i];
        continue;
      }
      if (!model->float_drift) x[i] = round_to(x[i], qx);
      if (periodic) x[i] = md_wrap(x[i], lo, hi, length);
      v[i] = model->one_mass ? round_to(v[i], qv) : round_product_to(v[i], mass_ratio, qv);
    }
  }
  if (bad == INT64_MAX) return MD_OK;
  for (int64_t i = 0; i < p->n; ++i) {
    if (p->id[i] != bad) continue;
    for (int d = 0; d < box->dim; ++d) {
      const double speed = fabs(p->v[d][i]), dt = model->dt, limit = model->move_limit;
      if (speed <= speed_limit) continue;
      return about(bad,
                   md_error(MD_PHYSICS,
                            "step %lld: particle %lld has speed %g along %c and would move %g in one step, "
                            "beyond the limit of %.3g: use a timestep below %.3g",
                            (long long)model->step, (long long)bad, speed, "xyz"[d], speed * dt, limit,
                            0.1 * dt * speed_limit / speed));
    }
    return about(bad, md_error(MD_PHYSICS,
                               "step %lld: particle %lld at (%g, %g, %g) is outside the box or not a number",
                               (long long)model->step, (long long)bad, p->x[0][i], p->x[1][i],
                               box->dim == 3 ? p->x[2][i] : 0.0));
  }
  return MD_OK;
}

/* The velocity from which md_model_enter makes p again. The nearest one may miss it by a quantum where p is large; as the
 * momenta of neighbouring velocities are at most a quantum apart, a neighbour then does. */
static double velocity_of(double p, double velocity_per_v, double q)
{
  const double mass_ratio = 1.0 / velocity_per_v;
  double v = p * velocity_per_v;
  while (round_product_to(v, mass_ratio, q) < p) v = nextafter(v, (double)INFINITY);
  while (round_product_to(v, mass_ratio, q) > p) v = nextafter(v, -(double)INFINITY);
  return v;
}

void md_model_leave(const md_model *model, md_particles *p)
{
  if (model->one_mass) return;
  for (int d = 0; d < model->box.dim; ++d) {
    double *restrict v = p->v[d];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; ++i)
      v[i] = velocity_of(v[i], model->velocity_per_v[p->type[i]], model->grids.v);
  }
}

double md_model_skin(const md_model *model)
{
  return model->skin < model->cutoff ? model->skin : model->cutoff;
}

double md_model_langevin_temperature(const md_model *model, int64_t step)
{
  const md_langevin *l = &model->langevin;
  return md_langevin_ramp(l->t_start, l->t_stop, step - model->run_begin, model->run_end - model->run_begin);
}

void md_measure_merge(md_measure *a, const md_measure *b)
{
  md_wide_merge(&a->pair_energy2, &b->pair_energy2);
  md_wide_merge(&a->virial2, &b->virial2);
  md_wide_merge(&a->kinetic, &b->kinetic);
  for (int d = 0; d < 3; ++d) md_wide_merge(&a->momentum[d], &b->momentum[d]);
  a->count += b->count;
}

/* LAMMPS's conventions: dim N - dim degrees of freedom, and they also carry the pressure's kinetic part. */
md_thermo_state md_measure_thermo(const md_model *model, const md_measure *m)
{
  const int dim = model->box.dim;
  const double freedom = (double)dim * (double)m->count - (double)dim;
  md_thermo_state s = {.kinetic = md_wide_value(&m->kinetic, model->grids.k),
                       .potential = 0.5 * md_wide_value(&m->pair_energy2, model->grids.e),
                       .virial = 0.5 * md_wide_value(&m->virial2, model->grids.w)};
  s.temperature = freedom > 0.0 ? 2.0 * s.kinetic / freedom : 0.0;
  s.pressure = (freedom * s.temperature + s.virial) / ((double)dim * md_box_volume(&model->box));
  for (int d = 0; d < 3; ++d)
    s.momentum[d] = md_wide_value(&m->momentum[d], model->grids.v) * model->mass_reference;
  return s;
}
