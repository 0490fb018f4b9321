/* Types that excluded groups divide; see divide.h. Cost: one look at the groups of each particle, a run. */
#include "src/particles/divide.h"
#include "common/ranks/reductions.h"

md_status md_divide_types(md_sim *sim)
{
  const md_particles *p = &sim->particles;
  md_model *model = &sim->model;
  md_subtypes groups;
  double found[MD_PATTERNS] = {0.0};
  bool has[MD_PATTERNS];
  MD_TRY(md_subtypes_groups(model, &groups));
  for (int64_t i = 0; i < p->n && groups.ngroup > 0; ++i)
    found[md_pattern_of(&groups, p->group ? p->group[i] : MD_GROUP_ALL)] = 1.0;
  found[0] = groups.ngroup > 0 ? found[0] : 1.0;
  if (groups.ngroup > 0) MD_TRY(sim->comm->reduce->max(sim->comm, found, 1 << groups.ngroup));
  for (int k = 0; k < MD_PATTERNS; ++k) has[k] = found[k] > 0.0;
  return md_comm_agree(sim->comm, md_model_divide(model, has));
}
