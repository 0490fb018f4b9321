/* Fixes that act on forces, on the host; see forces.h.
 *
 * Sums for output are exact, for terms of any size: they are long sums (common/arithmetic/long_sum.h).
 */
#include "common/force/forces.h"
#include "common/force/external.h"
#include "common/ranks/long_sums.h"

#include <stdlib.h>
#include <string.h>

/* ---- impulses ---- */

static double get(md_impulses impulse, int d, int64_t i)
{
  return impulse.whole ? (double)impulse.whole[d][i] : impulse.real[d][i];
}

static void put(md_impulses impulse, int d, int64_t i, double value)
{
  if (impulse.whole)
    impulse.whole[d][i] = (int64_t)value;
  else
    impulse.real[d][i] = value;
}

static bool is_in(const md_particles *p, int64_t i, uint32_t groups)
{
  return ((p->group ? p->group[i] : MD_GROUP_ALL) & groups) != 0;
}

/* n actions act on all particles. */
static void act_on_all(const md_model *model, const md_force_action *action, int n, const md_particles *p,
                       md_impulses impulse, int threads, md_overlap *overlap)
{
  const uint32_t groups = md_forces_groups(action, n);
#pragma omp parallel num_threads(threads)
  {
    md_overlap found = md_overlap_none();
#pragma omp for schedule(static)
    for (int64_t i = 0; i < p->n; ++i) {
      double sum[3] = {0.0};
      if (!is_in(p, i, groups)) continue;
      for (int d = 0; d < p->dim; ++d) sum[d] = get(impulse, d, i);
      md_forces_on_particle(model, action, n, p, i, sum, &found);
      for (int d = 0; d < p->dim; ++d) put(impulse, d, i, sum[d]);
    }
#pragma omp critical
    md_overlap_add(overlap, found.a, found.b, found.r2);
  }
}

static void sum_group(const md_particles *p, uint32_t group, md_impulses impulse, md_wide sum[3])
{
  for (int64_t i = 0; i < p->n; ++i)
    for (int d = 0; d < p->dim && is_in(p, i, group); ++d)
      md_wide_add(&sum[d], (md_int128)get(impulse, d, i));
}

static void set_mean(const md_model *model, md_force_action *action, int d, double sum)
{
  const int64_t count = md_model_group_count(model, model->fix[action->fix].group);
  action->k[MD_FORCE_MEAN + d] = count > 0 ? sum / (double)count : 0.0;
}

md_status md_forces_take_mean(md_comm *comm, const md_model *model, md_wide sum[3], double quantum,
                              md_force_action *action)
{
  int64_t limb[3 * MD_WIDE_LIMBS];
  memcpy(limb, sum, sizeof limb);
  MD_TRY(comm->reduce->sum(comm, limb, 3 * MD_WIDE_LIMBS));
  memcpy(sum, limb, sizeof limb);
  for (int d = 0; d < 3; ++d) {
    md_wide_normalise(&sum[d]);
    set_mean(model, action, d, md_wide_value(&sum[d], quantum));
  }
  return MD_OK;
}

/* Gives the actions of a fix, of which `action` is the first, the centres of mass after step `step`. n: actions from
 * there on. */
static md_status take_centres(md_model *model, md_comm *comm, const md_particles *p, int64_t step,
                              md_force_action *action, int n, int threads)
{
  md_centre_sums sums;
  const int parts = md_centre_actions(action, n);
  md_centre_sum(model, action, parts, p, threads, &sums);
  return md_centre_take(model, comm, step, &sums, 1.0, action, parts);
}

md_status md_forces_on_impulses(md_model *model, md_comm *comm, const md_particles *p, int64_t step,
                                int first, md_impulses impulse, int threads, md_overlap *overlap)
{
  const int n = model->nforce_action;
  md_force_action *row = md_forces_at(model, step);
  for (int last; first < n; first = last) {
    md_force_action *action = &row[first];
    if (action->takes_mean) {
      md_wide sum[3] = {{{0}}};
      sum_group(p, action->group, impulse, sum);
      MD_TRY(md_forces_take_mean(comm, model, sum, 1.0, action));
    }
    if (action->takes_centre) MD_TRY(take_centres(model, comm, p, step, action, n - first, threads));
    if (action->asks) MD_TRY(md_external_ask(model, comm, p, step, action));
    last = md_forces_next_mean(row, first + 1, n);
    act_on_all(model, action, last - first, p, impulse, threads, overlap);
  }
  return MD_OK;
}

void md_forces_keep_minimized(md_model *model)
{
  int n = 0;
  for (int k = 0; k < model->nforce_action; ++k) {
    const md_force_action *action = &model->force_action[k];
    if (!md_fix_style_of(action->kind)->not_minimized) model->force_action[n++] = *action;
  }
  model->nforce_action = n;
}

void md_forces_find_fault(md_model *model, const md_particles *p, int64_t step, md_overlap *overlap)
{
  const md_force_action *action = md_forces_at(model, step);
  for (int64_t i = 0; i < p->n && model->nforce_action > 0; ++i) {
    double none[3] = {0.0};
    md_forces_on_particle(model, action, model->nforce_action, p, i, none, overlap);
  }
}

/* ---- output ---- */

/* The sums of a fix: its energy, and its vector. */
typedef struct fix_sums {
  md_long_sum energy, vector[MD_FORCE_VECTOR];
} fix_sums;
enum { SUMS = sizeof(fix_sums) / sizeof(md_long_sum) };

/* Adds the output of one action on one particle. before: the force before it. */
static void add_output(const md_force_action *a, const double before[3], const md_net_force *net, int dim,
                       fix_sums *sum)
{
  const md_fix_style *style = md_fix_style_of(a->kind);
  if (style->has_energy) md_long_add(&sum->energy, net->energy);
  for (int d = 0; d < dim; ++d) {
    if (style->vector == MD_VECTOR_BEFORE) md_long_add(&sum->vector[d], before[d]);
    if (style->vector == MD_VECTOR_GIVEN || (style->vector == MD_VECTOR_SPRING && a->part == 0))
      md_long_add(&sum->vector[d], net->given[d]);
    if (style->vector == MD_VECTOR_REACTION) md_long_add(&sum->vector[d], -net->given[d]);
    if (style->vector == MD_VECTOR_WALLS) md_long_add(&sum->vector[a->part], -net->given[d]);
  }
  if (style->vector == MD_VECTOR_SPRING && a->part == 0) md_long_add(&sum->vector[3], net->pull);
}

/* Is every number of a force below MD_FORCE_OUTPUT_RANGE? */
static bool is_in_range(const md_net_force *net, const double before[3])
{
  bool known = fabs(net->energy) < MD_FORCE_OUTPUT_RANGE && fabs(net->pull) < MD_FORCE_OUTPUT_RANGE;
  for (int d = 0; d < 3; ++d)
    known = known && fabs(before[d]) < MD_FORCE_OUTPUT_RANGE && fabs(net->given[d]) < MD_FORCE_OUTPUT_RANGE;
  return known;
}

/* n actions act on the force on a particle. sums: by fix, or NULL. *fix: the fix that acted last. False: its force is
 * out of range. */
static bool act_for_output(const md_model *model, const md_force_action *action, int n, const md_particle *p,
                           const double *anchor, const double *external, double f[3], fix_sums *sums,
                           int *fix)
{
  const int dim = model->box.dim;
  for (int k = 0; k < n; ++k) {
    const md_force_action *a = &action[k];
    if (!md_forces_acts(a, p)) continue;
    md_net_force net = {.f = {f[0], f[1], f[2]}, .per_force = 1.0, .anchor = anchor, .external = external};
    *fix = a->fix;
    if (md_forces_act(a, 1, p, &net) >= 0 || !is_in_range(&net, f)) return false;
    if (sums) add_output(a, f, &net, dim, &sums[a->fix]);
    memcpy(f, net.f, sizeof net.f);
  }
  return true;
}

static void act_on_forces(const md_model *model, const md_force_action *action, int n, const md_particles *p,
                          double *const force[3], fix_sums *sums, md_overlap *overlap)
{
  for (int64_t i = 0; i < p->n; ++i) {
    const md_particle one = md_particle_of(model, p, i);
    double f[3] = {0.0}, anchor[3], external[3];
    int fix = 0;
    for (int d = 0; d < p->dim; ++d) f[d] = force[d][i];
    if (!act_for_output(model, action, n, &one, md_forces_anchor(p, i, anchor),
                        md_forces_external(p, i, external), f, sums, &fix))
      md_overlap_add(overlap, md_overlap_of_fix(fix), p->id[i], 0.0);
    for (int d = 0; d < p->dim; ++d) force[d][i] = f[d];
  }
}

/* The mean of the forces on the group of an action. */
static md_status take_mean_force(const md_model *model, md_comm *comm, const md_particles *p,
                                 double *const force[3], md_force_action *action)
{
  md_long_sum sum[3] = {{.terms = 0}};
  for (int64_t i = 0; i < p->n; ++i)
    for (int d = 0; d < p->dim && is_in(p, i, action->group); ++d)
      if (fabs(force[d][i]) < MD_FORCE_OUTPUT_RANGE) md_long_add(&sum[d], force[d][i]);
  MD_TRY(md_long_sums_over_ranks(comm, sum, 3));
  for (int d = 0; d < 3; ++d) set_mean(model, action, d, md_long_value(&sum[d]));
  return MD_OK;
}

static md_status act_in_parts(md_model *model, md_comm *comm, const md_particles *p, double *const force[3],
                              fix_sums *sums, md_overlap *overlap)
{
  const int n = model->nforce_action;
  md_force_action *row = md_forces_at(model, model->step);
  for (int first = 0, last; first < n; first = last) {
    md_force_action *action = &row[first];
    if (action->takes_mean) MD_TRY(take_mean_force(model, comm, p, force, action));
    if (action->takes_centre) MD_TRY(take_centres(model, comm, p, model->step, action, n - first, 1));
    if (action->asks) MD_TRY(md_external_ask(model, comm, p, model->step, action));
    last = md_forces_next_mean(row, first + 1, n);
    act_on_forces(model, action, last - first, p, force, sums, overlap);
  }
  return MD_OK;
}

/* The energies and vectors of all fixes from their sums on each rank. */
static md_status find_values(md_comm *comm, int nfix, fix_sums *sums, md_forced *forced)
{
  MD_TRY(md_long_sums_over_ranks(comm, &sums->energy, nfix * SUMS));
  for (int f = 0; f < nfix; ++f) {
    forced[f].energy = md_long_value(&sums[f].energy);
    for (int k = 0; k < MD_FORCE_VECTOR; ++k) forced[f].vector[k] = md_long_value(&sums[f].vector[k]);
  }
  return MD_OK;
}

md_status md_forces_output(md_model *model, md_comm *comm, const md_particles *p, double *const force[3],
                           md_forced *forced)
{
  md_overlap overlap = md_overlap_none();
  fix_sums *sums = NULL;
  if (forced)
    MD_TRY(md_comm_agree(comm, md_array_new_zero(&sums, model->nfix, sizeof *sums, "sums of fixes")));
  md_status status = act_in_parts(model, comm, p, force, sums, &overlap);
  if (status == MD_OK) status = md_comm_agree(comm, md_overlap_status(&overlap, model));
  if (status == MD_OK && forced) status = find_values(comm, model->nfix, sums, forced);
  free(sums);
  return status;
}
