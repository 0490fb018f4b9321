/* Anchors of particles; see anchors.h. */
#include "src/fixes/anchors.h"
#include "common/ranks/reductions.h"
#include "src/group/dynamic_group.h"

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

md_status md_anchors_end(md_sim *sim)
{
  if (!sim->model.anchored || md_fixes_anchor(&sim->model)) return MD_OK;
  sim->model.anchored = false;
  return md_particles_make_anchors(&sim->particles, false);
}
