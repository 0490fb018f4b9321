/* Temperatures on the host; see temperature.h.
 *
 * The sums over the particles are those of the style (common/temperature), made exactly (exact_sum.h):
 *   0       particles that count
 *   1       their mass
 *   2 to 4  their momentum
 *   5 to 7  twice the kinetic energy of the thermal motion along each axis
 * The tensor has six sums of its own, after those for the motion of the centre of mass where that is no heat.
 * Cost: that of md_exact_sums.
 */
#include "src/sums/temperature.h"
#include "src/region/region.h"
#include "src/sums/exact_sum.h"
#include "src/sums/masses.h"

enum { COUNT, MASS, MOMENTUM, ENERGY2 = MOMENTUM + 3, SUMS = ENERGY2 + 3 };

typedef struct thermal {
  const md_model *model;
  const md_compute *compute;
  md_bias bias;
  const md_region *region; /* NULL: everywhere */
  bool running;            /* the particles hold p/m_reference */
} thermal;

static bool counts(const thermal *t, const md_particles *p, int64_t i)
{
  return md_particles_in_group(p, md_group_bit(t->compute->group), i) &&
         (!t->region || md_region_has(t->region, p, i));
}

/* The velocity of a particle, and the part of it that is heat. */
static void velocity_of(const thermal *t, const md_particles *p, int64_t i, double v[3], double heat[3])
{
  double x[3] = {0.0};
  for (int d = 0; d < p->dim; ++d) x[d] = p->x[d][i];
  for (int d = 0; d < 3; ++d) {
    v[d] = d >= p->dim ? 0.0 : t->running ? md_model_velocity(t->model, p, d, i) : p->v[d][i];
    heat[d] = d >= p->dim ? 0.0 : v[d] - md_bias_of(&t->bias, d, x, v[d], 1.0);
  }
}

static void terms_of(const void *context, const md_particles *p, int64_t i, double *term)
{
  const thermal *t = context;
  double v[3], heat[3];
  for (int k = 0; k < SUMS; ++k) term[k] = 0.0;
  if (!counts(t, p, i)) return;
  const double mass = md_mass_of(t->model, p, i);
  velocity_of(t, p, i, v, heat);
  term[COUNT] = 1.0;
  term[MASS] = mass;
  for (int d = 0; d < p->dim; ++d) {
    term[MOMENTUM + d] = mass * v[d];
    term[ENERGY2 + d] = mass * heat[d] * heat[d];
  }
}

static void tensor_terms(const void *context, const md_particles *p, int64_t i, double *term)
{
  const thermal *t = context;
  double v[3], heat[3] = {0.0, 0.0, 0.0};
  if (counts(t, p, i)) velocity_of(t, p, i, v, heat);
  for (int c = 0; c < MD_TENSOR; ++c)
    term[c] = md_mass_of(t->model, p, i) * heat[md_tensor_row(c)] * heat[md_tensor_column(c)];
}

static md_status thermal_of(md_sim *sim, const md_compute *compute, thermal *t)
{
  *t = (thermal){.model = &sim->model,
                 .compute = compute,
                 .bias = compute->bias,
                 .running = sim->view && sim->view->engine};
  return compute->kind == MD_COMPUTE_temp_region ? md_region_find(sim, compute->of, &t->region) : MD_OK;
}

md_status md_temperature_measure(md_sim *sim, const md_compute *compute, double *value)
{
  const md_model *model = &sim->model;
  thermal t;
  double sum[SUMS];
  MD_TRY(thermal_of(sim, compute, &t));
  MD_TRY(md_exact_sums(sim->comm, &sim->particles, SUMS, terms_of, &t, "a temperature: the motion", sum));
  double kinetic = 0.0;
  for (int d = 0; d < model->box.dim; ++d) kinetic += 0.5 * sum[ENERGY2 + d];
  for (int d = 0; d < model->box.dim && compute->bias.kind == MD_BIAS_SHIFT && sum[MASS] > 0.0; ++d) {
    value[MD_TEMPERATURE_FLOW + d] = sum[MOMENTUM + d] / sum[MASS];
    kinetic -= 0.5 * sum[MOMENTUM + d] * value[MD_TEMPERATURE_FLOW + d];
  }
  md_temperature_set(model, compute, (int64_t)sum[COUNT], kinetic, value);
  return MD_OK;
}

/* Sets the shift of a bias that is the motion of the centre of mass. */
static md_status find_shift(md_sim *sim, const md_compute *compute, md_bias *bias)
{
  double value[MD_COMPUTE_TERMS];
  if (bias->kind != MD_BIAS_SHIFT) return MD_OK;
  MD_TRY(md_temperature_measure(sim, compute, value));
  for (int d = 0; d < sim->model.box.dim; ++d) bias->k[d] = value[MD_TEMPERATURE_FLOW + d];
  return MD_OK;
}

md_status md_temperature_tensor(md_sim *sim, const md_compute *compute, double tensor[MD_TENSOR])
{
  thermal t;
  MD_TRY(thermal_of(sim, compute, &t));
  MD_TRY(find_shift(sim, compute, &t.bias));
  return md_exact_sums(sim->comm, &sim->particles, MD_TENSOR, tensor_terms, &t, "a temperature: the motion",
                       tensor);
}

md_status md_temperature_bias(md_sim *sim, const char *what, const char *id, md_bias *bias, uint32_t *bit)
{
  int index;
  *bias = (md_bias){MD_BIAS_NONE, {0.0}};
  *bit = MD_GROUP_ALL;
  if (!id[0]) return MD_OK;
  MD_TRY(md_compute_temperature(&sim->model, what, id, true, &index));
  *bias = sim->model.compute[index].bias;
  *bit = md_group_bit(sim->model.compute[index].group);
  return find_shift(sim, &sim->model.compute[index], bias);
}
