/* Centres of mass that fixes follow, between runs; see centres.h. Cost: some passes over the particles, where a fix
 * follows a centre. */
#include "src/fixes/centres.h"
#include "common/ranks/reductions.h"
#include "common/spring/centre.h"
#include "src/edit/edit.h"
#include "src/follow/images.h"
#include "src/group/dynamic_group.h"
#include "src/sums/exact_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static md_status check(const md_sim *sim, const char *name, uint32_t group, bool minimizes)
{
  const md_model *model = &sim->model;
  if (minimizes)
    return md_error(
        MD_USAGE, "fix %s follows its group from step to step, which a minimisation has not: unfix it before",
        name);
  for (int g = 1; g < model->groups.n; ++g)
    if (md_group_bit(g) == group && md_dynamic_group_is(sim, g))
      return md_error(MD_USAGE, "fix %s: the particles of the group %s change; use a static group", name,
                      model->groups.name[g]);
  return MD_OK;
}

/* ---- jumps through faces ---- */

/* How often a particle at a place outside the box has gone through each face. */
static void jumps_of_place(const md_sim *sim, int64_t i, double jumps[3])
{
  const md_particles *p = &sim->particles;
  const md_box *box = &sim->model.box;
  double inside[3] = {0.0, 0.0, 0.0}, way[3] = {0.0, 0.0, 0.0};
  for (int d = 0; d < p->dim; ++d) inside[d] = md_edit_wrap(box, d, p->x[d][i]);
  md_box_show(box, inside);
  for (int d = 0; d < p->dim; ++d) way[d] = p->x[d][i] - inside[d];
  md_lattice_take(p->dim, box->periodic, box->length, box->tilt, way, jumps);
}

/* Adds the jumps of the particles of a group to those that the fix follows as its part. flag: how often each has
 * jumped; NULL: its place says so. begins: the fix knows no jumps yet. */
static md_status add_jumps(md_sim *sim, md_fix *fix, int part, uint32_t group, double *const flag[3],
                           bool begins)
{
  enum { TERMS = 4 };
  const md_particles *p = &sim->particles;
  int64_t sum[MD_CENTRE_TYPES * TERMS] = {0};
  double *state = fix->state + MD_CENTRE_FOLLOWED + part * MD_CENTRE_TYPES * MD_CENTRE_TERMS;
  for (int64_t i = 0; i < p->n; ++i) {
    double jumps[3];
    if (!md_particles_in_group(p, group, i) || p->type[i] > MD_CENTRE_TYPES) continue;
    int64_t *of_type = sum + (p->type[i] - 1) * TERMS;
    if (!flag) jumps_of_place(sim, i, jumps);
    for (int d = 0; d < 3; ++d) of_type[d] += (int64_t)(flag ? flag[d][i] : jumps[d]);
    ++of_type[3];
  }
  MD_TRY(sim->comm->reduce->sum(sim->comm, sum, MD_CENTRE_TYPES * TERMS));
  for (int t = 0; t < MD_CENTRE_TYPES; ++t, state += MD_CENTRE_TERMS) {
    for (int d = 0; d < 3; ++d) state[3 + d] = (begins ? 0.0 : state[3 + d]) + (double)sum[t * TERMS + d];
    if (begins) state[6] = (double)sum[t * TERMS + 3];
  }
  return MD_OK;
}

/* The same for all fixes that know their centres, or that do not yet. */
static md_status add_all_jumps(md_sim *sim, double *const flag[3], bool begins)
{
  for (int f = 0; f < sim->model.nfix; ++f) {
    md_fix *fix = &sim->model.fix[f];
    uint32_t group[MD_CENTRE_GROUPS];
    const int parts = md_fix_centre_groups(fix, group);
    if (parts == 0 || (fix->state[MD_CENTRE_KNOWN] == 1.0) == begins) continue;
    for (int part = 0; part < parts; ++part) MD_TRY(add_jumps(sim, fix, part, group[part], flag, begins));
  }
  return MD_OK;
}

/* ---- sums of places ---- */

typedef struct group_sums {
  const md_model *model;
  uint32_t bit;
  double *const *flag; /* the way from the place in the box to the unwrapped one counts; NULL: the place */
} group_sums;

static void terms_of(const void *context, const md_particles *p, int64_t i, double *term)
{
  const group_sums *g = context;
  const md_box *box = &g->model->box;
  double x[3] = {0.0, 0.0, 0.0};
  for (int d = 0; d < 3; ++d)
    if (d < p->dim && g->flag)
      md_lattice_shift(box->length, box->tilt, d, g->flag[d][i], x);
    else if (d < p->dim)
      x[d] = p->x[d][i];
  term[0] = md_particles_in_group(p, g->bit, i) ? md_mass_of(g->model, p, i) : 0.0;
  for (int d = 0; d < 3; ++d) term[1 + d] = term[0] * x[d];
}

static md_status sum_of_group(md_sim *sim, int f, double *const flag[3], double *mass, double place[3])
{
  const group_sums g = {&sim->model, md_group_bit(sim->model.fix[f].group), flag};
  double sum[4];
  MD_TRY(md_exact_sums(sim->comm, &sim->particles, 4, terms_of, &g, "a place", sum));
  *mass = sum[0];
  memcpy(place, sum + 1, 3 * sizeof *place);
  return MD_OK;
}

/* ---- the beginning of a run ---- */

/* Will the fix look where its centre of mass is? */
static bool will_look(const md_fix *fix)
{
  const md_fix_style *style = md_fix_style_of(fix->kind);
  return style->displaced && style->looks && style->looks(fix);
}

static md_status take_flags(md_sim *sim, double *const flag[3])
{
  for (int f = 0; f < sim->model.nfix; ++f) {
    md_fix *fix = &sim->model.fix[f];
    double mass, way[3];
    if (!will_look(fix)) continue;
    MD_TRY(sum_of_group(sim, f, flag, &mass, way));
    for (int d = 0; d < 3; ++d) way[d] = mass > 0.0 ? way[d] / mass : 0.0;
    md_fix_style_of(fix->kind)->displaced(fix, way);
  }
  return add_all_jumps(sim, flag, true);
}

static md_status begin_with_flags(md_sim *sim)
{
  double *flag[3] = {NULL, NULL, NULL};
  md_status status = md_images_flags(sim, flag);
  if (status == MD_OK) status = take_flags(sim, flag);
  for (int d = 0; d < 3; ++d) free(flag[d]);
  return status;
}

/* The group to which that of the fix is coupled must have particles. */
static md_status check_coupled(const md_model *model, const char *name, uint32_t group)
{
  for (int g = 0; g < model->groups.n; ++g)
    if (md_group_bit(g) == group && md_model_group_count(model, g) == 0)
      return md_error(MD_USAGE, "fix %s couple: the group %s has no particles", name, model->groups.name[g]);
  return MD_OK;
}

md_status md_centres_begin(md_sim *sim, bool minimizes)
{
  bool begins = false;
  for (int f = 0; f < sim->model.nfix; ++f) {
    const md_fix *fix = &sim->model.fix[f];
    uint32_t group[MD_CENTRE_GROUPS];
    const int parts = md_fix_centre_groups(fix, group);
    for (int part = 0; part < parts; ++part)
      MD_TRY(check(sim, md_fix_style_of(fix->kind)->name, group[part], minimizes));
    if (parts > 1) MD_TRY(check_coupled(&sim->model, md_fix_style_of(fix->kind)->name, group[1]));
    begins = begins || will_look(fix) || (parts > 0 && fix->state[MD_CENTRE_KNOWN] == 0.0);
  }
  if (!begins || sim->resume) return MD_OK;
  if (md_images_are_kept(sim)) return begin_with_flags(sim);
  md_images_explain_missed(sim, "centres of mass of fixes");
  return MD_OK;
}

/* ---- commands that move particles ---- */

md_status md_centres_before(md_sim *sim, md_centres_moved *moved)
{
  const md_model *model = &sim->model;
  *moved = (md_centres_moved){.mass = {0.0}};
  for (int f = 0; f < model->nfix; ++f) {
    if (!md_fix_style_of(model->fix[f].kind)->displaced) continue;
    MD_TRY(sum_of_group(sim, f, NULL, &moved->mass[f], moved->sum[f]));
  }
  return MD_OK;
}

md_status md_centres_after(md_sim *sim, const md_centres_moved *before)
{
  md_model *model = &sim->model;
  md_centres_moved after;
  MD_TRY(md_centres_before(sim, &after));
  for (int f = 0; f < model->nfix; ++f) {
    double way[3];
    /* A fix that has not looked yet finds the place after this. */
    if (!(before->mass[f] > 0.0) || will_look(&model->fix[f])) continue;
    for (int d = 0; d < 3; ++d) way[d] = (after.sum[f][d] - before->sum[f][d]) / before->mass[f];
    md_fix_style_of(model->fix[f].kind)->displaced(&model->fix[f], way);
  }
  return add_all_jumps(sim, NULL, false);
}
