/* Anchors of particles; see anchors.h. */
#include "src/fixes/anchors.h"
#include "common/ranks/reductions.h"
#include "src/group/dynamic_group.h"

#include <math.h>
#include <stdlib.h>

/* The bits of the groups of other fixes with anchors. */
static uint32_t tied_groups(const md_model *model, int index)
{
  uint32_t groups = 0;
  for (int f = 0; f < model->nfix; ++f)
    if (f != index && md_fix_style_of(model->fix[f].kind)->anchors)
      groups |= md_group_bit(model->fix[f].group);
  return groups;
}

static md_status check_free(md_sim *sim, int index, uint32_t bit)
{
  const md_particles *p = &sim->particles;
  const uint32_t others = tied_groups(&sim->model, index);
  const char *name = md_fix_style_of(sim->model.fix[index].kind)->name;
  int64_t both = 0;
  for (int64_t i = 0; i < p->n && others != 0; ++i) {
    const uint32_t groups = p->grouped ? p->group[i] : MD_GROUP_ALL;
    both += (groups & bit) != 0 && (groups & others) != 0;
  }
  MD_TRY(sim->comm->reduce->sum(sim->comm, &both, 1));
  if (both == 0) return MD_OK;
  return md_error(
      MD_USAGE,
      "fix %s: another fix %s ties %lld of these particles to places already: give the two groups "
      "without a common particle",
      name, name, (long long)both);
}

md_status md_anchors_begin(md_sim *sim, int index)
{
  md_model *model = &sim->model;
  md_particles *p = &sim->particles;
  md_fix *fix = &model->fix[index];
  const md_fix_style *style = md_fix_style_of(fix->kind);
  const uint32_t bit = md_group_bit(fix->group);
  if (!style->anchors) return MD_OK;
  if (md_dynamic_group_is(sim, fix->group))
    return md_error(MD_USAGE, "fix %s: the particles of the group %s change; use a static group", style->name,
                    model->groups.name[fix->group]);
  MD_TRY(check_free(sim, index, bit));
  if (fix->state[0] == 1.0) return MD_OK;
  MD_TRY(md_comm_agree(sim->comm, md_particles_make_anchors(p, true)));
  model->anchored = true;
  for (int64_t i = 0; i < p->n; ++i)
    for (int d = 0; d < p->dim && md_particles_in_group(p, bit, i); ++d) p->anchor[d][i] = p->x[d][i];
  fix->state[0] = 1.0;
  return MD_OK;
}

/* ---- commands that move particles ---- */

md_status md_ties_before(md_sim *sim, md_ties *ties)
{
  const md_particles *p = &sim->particles;
  const md_box *box = &sim->model.box;
  md_status status = MD_OK;
  *ties = (md_ties){{NULL, NULL, NULL}};
  if (!sim->model.anchored) return MD_OK;
  for (int d = 0; d < p->dim && status == MD_OK; ++d) {
    status = md_array_new(&ties->way[d], p->n + 1, sizeof *ties->way[d], "ways from anchors");
    for (int64_t i = 0; i < p->n && status == MD_OK; ++i) {
      const double way = p->x[d][i] - p->anchor[d][i];
      ties->way[d][i] = (box->periodic[d] ? md_minimum_image(way, box->length[d]) : way) - p->x[d][i];
    }
  }
  return md_comm_agree(sim->comm, status);
}

/* The id of a particle of this rank that a fix ties along this axis, and that is too far from its anchor; 0: none is.
 */
static int64_t find_far(const md_sim *sim, const md_ties *ties, const md_fix *fix, int d)
{
  const md_particles *p = &sim->particles;
  const double most = MD_TIE_MOST * sim->model.box.length[d];
  if (!md_fix_style_of(fix->kind)->anchors || fix->k[1 + d] == 0.0 || !sim->model.box.periodic[d]) return 0;
  for (int64_t i = 0; i < p->n; ++i)
    if (md_particles_in_group(p, md_group_bit(fix->group), i) && fabs(ties->way[d][i] + p->x[d][i]) >= most)
      return p->id[i];
  return 0;
}

md_status md_ties_after(md_sim *sim, const char *command, md_ties *ties, md_status status)
{
  int axis = 0;
  int64_t far = 0;
  for (int f = 0; f < sim->model.nfix && ties->way[0]; ++f)
    for (int d = 0; d < sim->particles.dim && status == MD_OK && far == 0; ++d) {
      far = find_far(sim, ties, &sim->model.fix[f], d);
      axis = d;
    }
  if (far > 0)
    status = md_error(
        MD_USAGE,
        "%s: particle %lld would be %g of the periodic side %c or more away from the place to which fix "
        "spring/self ties it: unfix that fix before, and give it again",
        command, (long long)far, MD_TIE_MOST, "xyz"[axis]);
  for (int d = 0; d < 3; ++d) free(ties->way[d]);
  return md_comm_agree(sim->comm, status);
}

md_status md_anchors_end(md_sim *sim)
{
  if (!sim->model.anchored || md_fixes_anchor(&sim->model)) return MD_OK;
  sim->model.anchored = false;
  return md_particles_make_anchors(&sim->particles, false);
}
