/* Centres of mass of groups in every step; see centre.h. */
#include "common/spring/centre.h"
#include "common/ranks/reductions.h"

#include <string.h>

md_centre md_centre_of(const md_model *model, uint32_t group)
{
  const md_box *box = &model->box;
  const bool moves = model->integrator != MD_STATIC;
  md_centre c = {.group = group,
                 .moving = moves ? model->moving : 0,
                 .dim = box->dim,
                 .per_quantum = 1.0 / model->grids.x,
                 .time = model->backwards ? -model->dt : model->dt};
  for (int d = 0; d < 3; ++d) {
    c.lo[d] = box->lo[d];
    c.length[d] = d < box->dim && box->periodic[d] ? box->length[d] : 0.0;
    c.offset[d] = box->triclinic ? box->offset[d] : 0.0;
    c.tilt[d] = box->triclinic ? box->tilt[d] : 0.0;
  }
  return c;
}

int md_centre_actions(const md_force_action *action, int n)
{
  int parts = 1;
  while (parts < n && parts < MD_CENTRE_GROUPS && action[parts].fix == action[0].fix) ++parts;
  return parts;
}

void md_centre_sum(const md_model *model, const md_force_action *action, int parts, const md_particles *p,
                   int threads, md_centre_sums *sums)
{
  memset(sums, 0, sizeof *sums);
#pragma omp parallel num_threads(threads)
  {
    md_centre_sums own = {.sum = {{{{{0}}}}}};
    for (int g = 0; g < parts; ++g) {
      const md_centre c = md_centre_of(model, action[g].group);
#pragma omp for schedule(static) nowait
      for (int64_t i = 0; i < p->n; ++i) {
        if (!md_particles_in_group(p, c.group, i)) continue;
        const md_particle one = md_particle_of(model, p, i);
        int64_t term[MD_CENTRE_TERMS];
        md_centre_terms(&c, &one, term);
        for (int k = 0; k < MD_CENTRE_TERMS; ++k) md_wide_add(&own.sum[g][one.type - 1][k], term[k]);
      }
    }
#pragma omp critical
    for (int g = 0; g < parts; ++g)
      for (int t = 0; t < MD_CENTRE_TYPES; ++t)
        for (int k = 0; k < MD_CENTRE_TERMS; ++k) md_wide_merge(&sums->sum[g][t][k], &own.sum[g][t][k]);
  }
}

/* The sums over all ranks. */
static md_status sum_over_ranks(md_comm *comm, md_centre_sums *sums)
{
  enum { LIMBS = sizeof *sums / sizeof(int64_t) };
  int64_t limb[LIMBS];
  memcpy(limb, sums, sizeof limb);
  MD_TRY(comm->reduce->sum(comm, limb, LIMBS));
  memcpy(sums, limb, sizeof limb);
  for (int g = 0; g < MD_CENTRE_GROUPS; ++g)
    for (int t = 0; t < MD_CENTRE_TYPES; ++t)
      for (int k = 0; k < MD_CENTRE_TERMS; ++k) md_wide_normalise(&sums->sum[g][t][k]);
  return MD_OK;
}

/* How far n jumps through faces of the later axes lead along axis d, and those of its own. */
static double way_of_jumps(const md_box *box, const double n[3], int d)
{
  const double *t = box->tilt;
  double way = n[d] * box->length[d];
  if (!box->triclinic) return way;
  if (d == 0) way += n[1] * t[MD_XY] + n[2] * t[MD_XZ];
  if (d == 1) way += n[2] * t[MD_YZ];
  return way;
}

/* By how many faces the particles of a type went along axis d since the step before: faces[d], if those of the later
 * axes are there and faces[d] is 0. MD_PHYSICS: that is not known. */
static md_status count_faces(const md_model *model, const md_fix *fix, double moved, int d, double faces[3])
{
  const double jumps = (moved * model->grids.x - way_of_jumps(&model->box, faces, d)) / model->box.length[d];
  faces[d] = rint(jumps);
  if (fabs(jumps - faces[d]) <= 0.25) return MD_OK;
  return md_error(MD_PHYSICS,
                  "step %lld: fix %s no longer knows how often particles went through the faces along %c, "
                  "because something other than their velocities moved them; use a fix that moves particles "
                  "by their velocities, such as nve",
                  (long long)model->step, md_fix_style_of(fix->kind)->name, "xyz"[d]);
}

/* How the box of the step before became the present one, for the places of a group: place * scale + shift, quanta from
 * where the box begins, and the drift of the step times stretch. */
typedef struct box_change {
  double scale[3], shift[3], stretch[3];
} box_change;

/* MD_USAGE: only some particles of the group went along with the box. */
static md_status find_change(const md_model *model, const md_fix *fix, uint32_t group, box_change *change)
{
  const double *lo = &fix->state[MD_CENTRE_LO], *length = &fix->state[MD_CENTRE_LENGTH];
  for (int d = 0; d < 3; ++d) {
    const uint32_t carried = model->move.carried[d];
    change->scale[d] = change->stretch[d] = 1.0;
    change->shift[d] = 0.0;
    if (d >= model->box.dim || (lo[d] == model->box.lo[d] && length[d] == model->box.length[d])) continue;
    change->stretch[d] = model->move.stretch[d];
    if (carried & (MD_GROUP_ALL | group))
      change->scale[d] = model->box.length[d] / length[d];
    else if (carried == 0)
      change->shift[d] = (lo[d] - model->box.lo[d]) / model->grids.x;
    else
      return md_error(MD_USAGE,
                      "fix %s: a fix that changes the box moves only some particles of its group; let it "
                      "move all of them or none",
                      md_fix_style_of(fix->kind)->name);
  }
  return MD_OK;
}

/* Follows the sums of a type of a group from the step before. follows: that step is the one before this one. U: the
 * sums of places beyond the faces, from the lower faces of the box on, in quanta. */
static md_status follow(const md_model *model, const md_fix *fix, bool follows, const box_change *box,
                        const double sum[MD_CENTRE_TERMS], double *state, double U[3])
{
  const double count = sum[0];
  double faces[3] = {0.0, 0.0, 0.0};
  const bool changed = state[6] != count;
  if (changed && (state[3] != 0.0 || state[4] != 0.0 || state[5] != 0.0))
    return md_error(
        MD_PHYSICS,
        "step %lld: fix %s no longer knows how often its particles went through faces, because particles "
        "of a type have joined or left its group; define the fix again",
        (long long)model->step, md_fix_style_of(fix->kind)->name);
  if (changed) follows = false;
  for (int d = model->box.dim - 1; d >= 0; --d) {
    const double now = sum[1 + d], way = sum[4 + d];
    const double before = fma(state[d], box->scale[d], count * box->shift[d]);
    if (follows && model->box.periodic[d])
      MD_TRY(count_faces(model, fix, before + way * box->stretch[d] - now, d, faces));
    state[3 + d] += faces[d];
    state[d] = now;
  }
  for (int d = 0; d < model->box.dim; ++d)
    U[d] = state[d] + way_of_jumps(&model->box, state + 3, d) / model->grids.x;
  state[6] = count;
  return MD_OK;
}

/* The centre of mass of a group, and its mass. */
static md_status find_centre(const md_model *model, md_fix *fix, int part, bool follows,
                             const box_change *change, const md_centre_sums *sums, double unit,
                             double centre[3], double *mass)
{
  *mass = 0.0;
  for (int d = 0; d < 3; ++d) centre[d] = 0.0;
  for (int t = 0; t < MD_CENTRE_TYPES && t < model->ntypes; ++t) {
    const int first = (part * MD_CENTRE_TYPES + t) * MD_CENTRE_TERMS;
    double U[3] = {0.0, 0.0, 0.0}, sum[MD_CENTRE_TERMS];
    for (int k = 0; k < MD_CENTRE_TERMS; ++k) sum[k] = md_wide_value(&sums->sum[part][t][k], unit);
    MD_TRY(follow(model, fix, follows, change, sum, fix->state + MD_CENTRE_FOLLOWED + first, U));
    *mass += model->mass[t + 1] * sum[0];
    for (int d = 0; d < 3; ++d) centre[d] += model->mass[t + 1] * U[d];
  }
  for (int d = 0; d < 3 && d < model->box.dim; ++d)
    if (*mass > 0.0) centre[d] = model->box.lo[d] + centre[d] / *mass * model->grids.x;
  return MD_OK;
}

md_status md_centre_take(md_model *model, md_comm *comm, int64_t step, md_centre_sums *sums, double unit,
                         md_force_action *action, int parts)
{
  md_fix *fix = &model->fix[action->fix];
  const int64_t before = (int64_t)fix->state[MD_CENTRE_STEP] + (model->backwards ? -1 : 1);
  const bool known = fix->state[MD_CENTRE_KNOWN] == 1.0, follows = known && before == step;
  double centre[MD_CENTRE_GROUPS][3], mass[MD_CENTRE_GROUPS];
  MD_TRY(sum_over_ranks(comm, sums));
  for (int part = 0; part < parts; ++part) {
    box_change change = {.scale = {1.0, 1.0, 1.0}, .stretch = {1.0, 1.0, 1.0}};
    if (follows) MD_TRY(find_change(model, fix, action[part].group, &change));
    MD_TRY(find_centre(model, fix, part, follows, &change, sums, unit, centre[part], &mass[part]));
  }
  memcpy(&fix->state[MD_CENTRE_LO], model->box.lo, sizeof model->box.lo);
  memcpy(&fix->state[MD_CENTRE_LENGTH], model->box.length, sizeof model->box.length);
  fix->state[MD_CENTRE_KNOWN] = 1.0;
  fix->state[MD_CENTRE_STEP] = (double)step;
  md_fix_style_of(fix->kind)->take_centres(fix, centre, mass, action);
  return MD_OK;
}
