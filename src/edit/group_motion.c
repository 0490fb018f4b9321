/* Momentum, rotation and temperature of a group; see group_motion.h.
 *
 * The inertia tensor is symmetric. I omega = L is solved by elimination with the largest pivots. A pivot below 1e-10
 * of the largest is that of an axis without extent, about which omega is 0.
 */
#include "src/edit/group_motion.h"
#include "common/rotation.h"
#include "src/sums/exact_sum.h"
#include "src/sums/masses.h"
#include "src/sums/temperature.h"

typedef struct body {
  const md_model *model;
  uint32_t bit;
  double centre[3];
} body;

static double mass_of(const body *b, const md_particles *p, int64_t i)
{
  return md_particles_in_group(p, b->bit, i) ? md_mass_of(b->model, p, i) : 0.0;
}

static void momentum_terms(const void *context, const md_particles *p, int64_t i, double *term)
{
  const double mass = mass_of(context, p, i);
  for (int d = 0; d < p->dim; ++d) term[d] = mass > 0.0 ? mass * p->v[d][i] : 0.0;
}

static void position_terms(const void *context, const md_particles *p, int64_t i, double *term)
{
  const double mass = mass_of(context, p, i);
  for (int d = 0; d < p->dim; ++d) term[d] = mass * p->x[d][i];
}

/* Position from the centre, and velocity; 0 along z in two dimensions. */
static void moves_of(const body *b, const md_particles *p, int64_t i, double r[3], double v[3])
{
  r[2] = v[2] = 0.0;
  for (int d = 0; d < p->dim; ++d) {
    r[d] = p->x[d][i] - b->centre[d];
    v[d] = p->v[d][i];
  }
}

static void angular_terms(const void *context, const md_particles *p, int64_t i, double *term)
{
  double r[3], v[3];
  const double mass = mass_of(context, p, i);
  moves_of(context, p, i, r, v);
  for (int d = 0; d < 3; ++d) {
    const int a = (d + 1) % 3, b = (d + 2) % 3;
    term[d] = mass > 0.0 ? mass * (r[a] * v[b] - r[b] * v[a]) : 0.0;
  }
}

/* xx yy zz xy xz yz */
static void inertia_terms(const void *context, const md_particles *p, int64_t i, double *term)
{
  double r[3], v[3];
  const double mass = mass_of(context, p, i);
  moves_of(context, p, i, r, v);
  for (int d = 0; d < 3; ++d) {
    const int a = (d + 1) % 3, b = (d + 2) % 3;
    term[d] = mass * (r[a] * r[a] + r[b] * r[b]);
  }
  term[3] = -mass * r[0] * r[1];
  term[4] = -mass * r[0] * r[2];
  term[5] = -mass * r[1] * r[2];
}

static md_status sums(md_sim *sim, const body *b, int n, md_exact_terms terms, double *sum)
{
  return md_exact_sums(sim->comm, &sim->particles, n, terms, b, "velocity: the motion", sum);
}

static void mass_terms(const void *context, const md_particles *p, int64_t i, double *term)
{
  *term = mass_of(context, p, i);
}

md_status md_group_mass(md_sim *sim, const char *command, uint32_t bit, double *mass, int64_t *count)
{
  const md_model *model = &sim->model;
  const body b = {.model = model, .bit = bit};
  int64_t of_type[MD_TYPES_MAX + 1];
  MD_TRY(md_types_count(sim, bit, of_type));
  *mass = 0.0;
  *count = of_type[0];
  if (model->massed) return sums(sim, &b, 1, mass_terms, mass);
  /* A check has no particles; they will be of one type at least. */
  bool none = sim->planning.checking;
  for (int t = 1; t <= model->ntypes; ++t) none = none && !(model->mass[t] > 0.0);
  for (int t = 1; t <= model->ntypes; ++t) {
    if (of_type[t] == 0 && !none) continue;
    if (!(model->mass[t] > 0.0))
      return md_error(MD_USAGE, "%s needs the mass of type %d; give `mass %d VALUE` first", command, t, t);
    *mass += (double)of_type[t] * model->mass[t];
  }
  return MD_OK;
}

md_status md_group_centre(md_sim *sim, const char *command, uint32_t bit, double centre[3])
{
  const body b = {.model = &sim->model, .bit = bit};
  double mass, sum[3] = {0.0};
  int64_t count;
  MD_TRY(md_group_mass(sim, command, bit, &mass, &count));
  MD_TRY(sums(sim, &b, sim->particles.dim, position_terms, sum));
  for (int d = 0; d < 3; ++d) centre[d] = count > 0 ? sum[d] / mass : 0.0;
  return MD_OK;
}

md_status md_group_zero_momentum(md_sim *sim, uint32_t bit)
{
  md_particles *p = &sim->particles;
  const body b = {.model = &sim->model, .bit = bit};
  double mass, momentum[3];
  int64_t count;
  MD_TRY(md_group_mass(sim, "velocity", bit, &mass, &count));
  MD_TRY(sums(sim, &b, p->dim, momentum_terms, momentum));
  if (count == 0) return MD_OK;
  for (int d = 0; d < p->dim; ++d) {
    const double drift = momentum[d] / mass;
    double *v = p->v[d];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; ++i)
      if (md_particles_in_group(p, bit, i)) v[i] -= drift;
  }
  return MD_OK;
}

md_status md_group_zero_rotation(md_sim *sim, uint32_t bit)
{
  md_particles *p = &sim->particles;
  body b = {.model = &sim->model, .bit = bit};
  double angular[3], inertia[6], omega[3];
  MD_TRY(md_group_centre(sim, "velocity", bit, b.centre));
  MD_TRY(sums(sim, &b, 3, angular_terms, angular));
  MD_TRY(sums(sim, &b, 6, inertia_terms, inertia));
  md_rotation_of(inertia, angular, omega);
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    double r[3], v[3];
    if (!md_particles_in_group(p, bit, i)) continue;
    moves_of(&b, p, i, r, v);
    for (int d = 0; d < p->dim; ++d)
      p->v[d][i] -= omega[(d + 1) % 3] * r[(d + 2) % 3] - omega[(d + 2) % 3] * r[(d + 1) % 3];
  }
  return MD_OK;
}

/* Measures the temperature. MD_USAGE: it has no degree of freedom. */
static md_status measure(md_sim *sim, const md_compute *of, double value[MD_COMPUTE_TERMS])
{
  double mass;
  int64_t count;
  MD_TRY(md_group_mass(sim, "velocity", md_group_bit(of->group), &mass, &count));
  MD_TRY(md_temperature_measure(sim, of, value));
  if (sim->planning.checking || value[MD_TEMPERATURE_FREEDOM] > 0.0) return MD_OK;
  return md_error(MD_USAGE, "velocity: %lld particle%s no temperature; at least 2 are needed",
                  (long long)count, count == 1 ? " has" : "s have");
}

md_status md_group_need_freedom(md_sim *sim, const md_compute *of)
{
  double value[MD_COMPUTE_TERMS] = {0.0};
  return measure(sim, of, value);
}

md_status md_group_scale(md_sim *sim, uint32_t bit, const md_compute *of, double temperature)
{
  md_particles *p = &sim->particles;
  double value[MD_COMPUTE_TERMS] = {0.0};
  MD_TRY(measure(sim, of, value));
  if (sim->planning.checking) return MD_OK;
  const double present = value[MD_TEMPERATURE_T];
  if (!(present > 0.0) || !isfinite(present))
    return md_error(MD_USAGE,
                    "velocity: particles %s cannot be scaled to a temperature; use `velocity all create`",
                    present > 0.0 ? "this fast" : "at rest");
  const double factor = sqrt(temperature / present);
  for (int d = 0; d < p->dim; ++d) {
    double *v = p->v[d];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; ++i)
      if (md_particles_in_group(p, bit, i)) v[i] *= factor;
  }
  return MD_OK;
}
