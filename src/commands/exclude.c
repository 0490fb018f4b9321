/* Pairs that do not interact; see exclude.h. */
#include "src/commands/exclude.h"
#include "src/group/dynamic_group.h"
#include "src/group/groups.h"

#include <string.h>

/* Adds a pair of types, unless it is there. */
static md_status add(md_model *model, int i, int j)
{
  for (int k = 0; k < model->exclusions.ntypes; ++k) {
    const int *there = model->exclusions.types[k];
    if ((there[0] == i && there[1] == j) || (there[0] == j && there[1] == i)) return MD_OK;
  }
  if (model->exclusions.ntypes == MD_EXCLUDED_MAX)
    return md_error(MD_USAGE, "neigh_modify exclude: at most %d pairs of types are accepted",
                    MD_EXCLUDED_MAX);
  model->exclusions.types[model->exclusions.ntypes][0] = i;
  model->exclusions.types[model->exclusions.ntypes++][1] = j;
  return MD_OK;
}

static md_status exclude_types(md_model *model, char *const *word)
{
  int64_t type[2];
  for (int t = 0; t < 2; ++t)
    MD_TRY(md_word_int64(word[t], "the type of neigh_modify exclude", 1, model->ntypes, &type[t]));
  return add(model, (int)type[0], (int)type[1]);
}

static md_status find_group(md_sim *sim, const char *name, int *group)
{
  MD_TRY(md_group_find(sim, name, group));
  if (!md_dynamic_group_is(sim, *group)) return MD_OK;
  return md_error(
      MD_USAGE,
      "neigh_modify exclude: the group %s is dynamic, and the pairs that are excluded must stay during "
      "a run; make it static first, with `group %s static`",
      name, name);
}

static md_status exclude_groups(md_sim *sim, char *const *word)
{
  md_model *model = &sim->model;
  int group[2];
  for (int g = 0; g < 2; ++g) MD_TRY(find_group(sim, word[g], &group[g]));
  if (model->exclusions.ngroups == MD_EXCLUDED_MAX)
    return md_error(MD_USAGE, "neigh_modify exclude: at most %d pairs of groups are accepted",
                    MD_EXCLUDED_MAX);
  memcpy(model->exclusions.groups[model->exclusions.ngroups++], group, sizeof group);
  return MD_OK;
}

static md_status exclude_molecules(md_sim *sim, const char *what, const char *group)
{
  md_molecules *m = &sim->model.exclusions.molecules;
  if (!sim->model.bonded)
    return md_error(MD_USAGE, "neigh_modify exclude %s: particles have no molecules; use atom_style bond",
                    what);
  if (m->n == MD_MOLECULES_MAX)
    return md_error(MD_USAGE, "neigh_modify exclude: at most %d exclusions by molecules are accepted",
                    (int)MD_MOLECULES_MAX);
  MD_TRY(find_group(sim, group, &m->group[m->n]));
  m->inter[m->n++] = strcmp(what, "molecule/inter") == 0;
  return MD_OK;
}

md_status md_exclude(md_sim *sim, const md_words *words, int *k)
{
  const char *what = *k + 1 < words->n ? words->word[*k + 1] : "";
  const bool types = strcmp(what, "type") == 0, molecules = strncmp(what, "molecule", 8) == 0;
  ++*k;
  if (strcmp(what, "none") == 0) {
    sim->model.exclusions.ntypes = sim->model.exclusions.ngroups = sim->model.exclusions.molecules.n = 0;
    return MD_OK;
  }
  if (molecules && (what[8] == '\0' || strcmp(what + 8, "/intra") == 0 || strcmp(what + 8, "/inter") == 0)) {
    if (*k + 1 >= words->n) return md_error(MD_USAGE, "neigh_modify exclude %s needs a group", what);
    MD_TRY(md_sim_need_box(sim, "neigh_modify exclude"));
    return exclude_molecules(sim, what, words->word[++*k]);
  }
  if (!types && strcmp(what, "group") != 0)
    return md_error(MD_USAGE,
                    "neigh_modify exclude: '%.64s' is not available; accepted are type I J, group A B, "
                    "molecule/intra GROUP, molecule/inter GROUP and none",
                    what);
  if (*k + 2 >= words->n) return md_error(MD_USAGE, "neigh_modify exclude %s needs two %ss", what, what);
  MD_TRY(md_sim_need_box(sim, "neigh_modify exclude"));
  *k += 2;
  char *const *word = words->word + *k - 1;
  if (types) return exclude_types(&sim->model, word);
  return exclude_groups(sim, word);
}
