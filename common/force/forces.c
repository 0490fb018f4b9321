/* Fixes that act on forces, on the host; see forces.h.
 *
 * Sums for output are exact: each term is rounded to a fine quantum of 2^-64 in reduced units, which is far below the
 * rounding of the terms themselves, and terms reach up to 2^37.
 */
#include "common/force/forces.h"

#include <string.h>

static const double COARSE = 0x1p24; /* coarse quanta in a unit of energy or force */

void md_forces_on_impulses(const md_model *model, const md_particles *p, int64_t *const impulse[3],
                           int threads, md_overlap *overlap)
{
  const uint32_t groups = md_forces_groups(model->force_action, model->nforce_action);
  if (groups == 0) return;
#pragma omp parallel num_threads(threads)
  {
    md_overlap found = md_overlap_none();
#pragma omp for schedule(static)
    for (int64_t i = 0; i < p->n; ++i) {
      double sum[3] = {0.0};
      if (!((p->group ? p->group[i] : MD_GROUP_ALL) & groups)) continue;
      for (int d = 0; d < p->dim; ++d) sum[d] = (double)impulse[d][i];
      md_forces_on_particle(model, p, i, sum, &found);
      for (int d = 0; d < p->dim; ++d) impulse[d][i] = (int64_t)sum[d];
    }
#pragma omp critical
    md_overlap_add(overlap, found.a, found.b, found.r2);
  }
}

void md_forces_find_fault(const md_model *model, const md_particles *p, md_overlap *overlap)
{
  for (int64_t i = 0; i < p->n && model->nforce_action > 0; ++i) {
    double none[3] = {0.0};
    md_forces_on_particle(model, p, i, none, overlap);
  }
}

/* ---- output ---- */

static void add_term(md_wide *sum, double term)
{
  md_fine fine = {0, 0};
  md_fine_add(&fine, term * COARSE);
  md_wide_add(sum, md_fine_count(fine));
}

/* Adds the output of one action on one particle. before: the force before it. */
static void add_output(const md_force_action *a, const double before[3], const md_net_force *net, int dim,
                       md_wide sum[MD_FORCE_SUMS])
{
  const md_fix_style *style = md_fix_style_of(a->kind);
  if (style->has_energy) add_term(&sum[0], net->energy);
  for (int d = 0; d < dim; ++d) {
    if (style->vector == MD_VECTOR_BEFORE) add_term(&sum[1 + d], before[d]);
    if (style->vector == MD_VECTOR_REACTION) add_term(&sum[1 + d], -net->given[d]);
    if (style->vector == MD_VECTOR_WALLS) add_term(&sum[1 + a->part], -net->given[d]);
  }
}

/* The fixes act on the force on particle i. False: a force is out of range. */
static bool act_for_output(const md_model *model, const md_particle *p, double f[3], md_force_sums *sums,
                           int *fix)
{
  const int dim = model->box.dim;
  for (int k = 0; k < model->nforce_action; ++k) {
    const md_force_action *a = &model->force_action[k];
    if (!(p->group & a->group)) continue;
    md_net_force net = {.f = {f[0], f[1], f[2]}, .per_force = 1.0};
    *fix = md_forces_act(a, 1, p, &net);
    bool known = *fix < 0 && fabs(net.energy) < MD_FORCE_OUTPUT_RANGE;
    for (int d = 0; d < dim; ++d) known = known && fabs(f[d]) < MD_FORCE_OUTPUT_RANGE;
    *fix = a->fix;
    if (!known) return false;
    add_output(a, f, &net, dim, sums->sum[a->fix]);
    memcpy(f, net.f, sizeof net.f);
  }
  return true;
}

md_status md_forces_output(const md_model *model, const md_particles *p, double *const force[3],
                           md_force_sums *sums)
{
  md_overlap overlap = md_overlap_none();
  memset(sums, 0, sizeof *sums);
  for (int64_t i = 0; i < p->n; ++i) {
    const md_particle one = md_particle_of(model, p, i);
    double f[3] = {0.0};
    int fix = 0;
    for (int d = 0; d < p->dim; ++d) f[d] = force[d][i];
    if (!act_for_output(model, &one, f, sums, &fix))
      md_overlap_add(&overlap, md_overlap_of_fix(fix), p->id[i], 0.0);
    for (int d = 0; d < p->dim; ++d) force[d][i] = f[d];
  }
  return md_overlap_status(&overlap, model);
}

md_forced md_forces_value(const md_wide sum[MD_FORCE_SUMS])
{
  const double quantum = 1.0 / (COARSE * MD_FINE);
  md_forced value = {.energy = md_wide_value(&sum[0], quantum)};
  for (int k = 0; k < MD_FORCE_VECTOR; ++k) value.vector[k] = md_wide_value(&sum[1 + k], quantum);
  return value;
}
