/* Types that excluded groups divide; see divide.h.
 *
 * 1. Each rank looks which groups its particles of each type have, and which they lack: bits of a word a type.
 * 2. The largest of each bit over all ranks says it for all. So each group either divides types or not.
 * 3. Where some do, each rank looks which combinations of them its particles have.
 *
 * Cost: one or two looks at the groups of each particle, a run with excluded groups.
 */
#include "src/particles/divide.h"
#include "common/ranks/reductions.h"

#include <stdlib.h>

enum { GROUP_BITS = 32 };

static uint32_t groups_of(const md_particles *p, int64_t i) { return p->group ? p->group[i] : MD_GROUP_ALL; }

static void look_at_own(const md_particles *p, int ntypes, const md_memberships *found)
{
  uint32_t *some = found->some, *missing = found->missing;
#pragma omp parallel for schedule(static) reduction(| : some[:ntypes + 1], missing[:ntypes + 1])
  for (int64_t i = 0; i < p->n; ++i) {
    some[p->type[i]] |= groups_of(p, i);
    missing[p->type[i]] |= ~groups_of(p, i);
  }
}

/* Turns the words of this rank into those of all ranks. bit: [2 ntypes] for one group after the other. */
static md_status share(md_comm *comm, uint32_t excluded, int ntypes, const md_memberships *found, double *bit)
{
  for (int g = 0; g < GROUP_BITS; ++g) {
    if (!(excluded >> g & 1)) continue;
    for (int t = 0; t < ntypes; ++t) {
      bit[2 * t] = found->some[t + 1] >> g & 1;
      bit[2 * t + 1] = found->missing[t + 1] >> g & 1;
    }
    MD_TRY(comm->reduce->max(comm, bit, 2 * ntypes));
    for (int t = 0; t < ntypes; ++t) {
      found->some[t + 1] |= (uint32_t)(bit[2 * t] > 0.0) << g;
      found->missing[t + 1] |= (uint32_t)(bit[2 * t + 1] > 0.0) << g;
    }
  }
  return MD_OK;
}

static md_status find_memberships(md_sim *sim, const md_memberships *found, double *bit)
{
  const md_model *model = &sim->model;
  uint32_t excluded = 0;
  for (int e = 0; e < 2 * model->exclusions.ngroups; ++e)
    excluded |= md_group_bit(model->exclusions.groups[e / 2][e % 2]);
  if (excluded == 0) return MD_OK;
  look_at_own(&sim->particles, model->ntypes, found);
  return share(sim->comm, excluded, model->ntypes, found, bit);
}

/* has[pattern]: some particle of any rank has it. */
static md_status find_patterns(md_sim *sim, const md_memberships *found, bool has[MD_PATTERNS])
{
  const md_particles *p = &sim->particles;
  md_subtypes groups;
  double mine[MD_PATTERNS] = {0.0};
  MD_TRY(md_subtypes_groups(&sim->model, found, &groups));
  for (int64_t i = 0; i < p->n && groups.ngroup > 0; ++i) mine[md_pattern_of(&groups, groups_of(p, i))] = 1.0;
  if (groups.ngroup > 0)
    MD_TRY(sim->comm->reduce->max(sim->comm, mine, 1 << groups.ngroup));
  else
    mine[0] = 1.0;
  for (int k = 0; k < MD_PATTERNS; ++k) has[k] = mine[k] > 0.0;
  return MD_OK;
}

md_status md_divide_types(md_sim *sim)
{
  const int n = sim->model.ntypes + 1;
  md_memberships found = {NULL, NULL};
  double *bit = NULL;
  bool has[MD_PATTERNS];
  md_status status = md_array_new_zero(&found.some, n, sizeof *found.some, "groups of types");
  if (status == MD_OK)
    status = md_array_new_zero(&found.missing, n, sizeof *found.missing, "groups of types");
  if (status == MD_OK) status = md_array_new(&bit, 2 * n, sizeof *bit, "groups of types");
  status = md_comm_agree(sim->comm, status);
  if (status == MD_OK) status = find_memberships(sim, &found, bit);
  if (status == MD_OK) status = find_patterns(sim, &found, has);
  if (status == MD_OK) status = md_comm_agree(sim->comm, md_model_divide(&sim->model, &found, has));
  free(found.some);
  free(found.missing);
  free(bit);
  return status;
}
