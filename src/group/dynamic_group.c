/* Dynamic groups; see dynamic_group.h.
 *
 * A dynamic group has a fix of its own, as in LAMMPS, which has no ID in the deck. It changes the words of groups of
 * the particles between two steps (src/edit/run_edits.h). Reference: the LAMMPS manual, command group. */
#include "src/group/dynamic_group.h"
#include "common/base/memory.h"
#include "common/ranks/reductions.h"
#include "src/averages/output_fix.h"
#include "src/edit/edit.h"
#include "src/formula/particle_values.h"
#include "src/group/groups.h"
#include "src/region/region.h"
#include "src/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct dynamic_group {
  md_output_fix base;
  int64_t every;
  int group, parent;
  char region[64];    /* its ID, or "" */
  char value[2][256]; /* v_NAME; d_NAME or i_NAME; "": none */
} dynamic_group;

static md_status read_value(const md_sim *sim, bool variable, const char *word, char name[256])
{
  const int n = snprintf(name, 256, "%s%s", variable ? "v_" : "", word);
  const bool known = n < 256 && (variable ? md_variables_is_atom(sim->variables, word)
                                          : (word[0] == 'd' || word[0] == 'i') && word[1] == '_' &&
                                                md_particle_values_has(sim, word));
  if (known) return MD_OK;
  return md_error(MD_USAGE, "group dynamic %s: '%.64s' is %s", variable ? "var" : "property", word,
                  variable ? "no variable of style atom"
                           : "no property d_NAME or i_NAME of a fix property/atom");
}

static md_status read_keyword(dynamic_group *g, md_sim *sim, const char *keyword, const char *value)
{
  const md_region *region;
  if (strcmp(keyword, "every") == 0)
    return md_word_int64(value, "N of group dynamic every", 1, INT64_MAX, &g->every);
  if (strcmp(keyword, "var") == 0) return read_value(sim, true, value, g->value[0]);
  if (strcmp(keyword, "property") == 0) return read_value(sim, false, value, g->value[1]);
  if (strcmp(keyword, "region") != 0)
    return md_error(MD_USAGE,
                    "group dynamic: unknown keyword '%.64s'; accepted are region ID, var NAME, property NAME "
                    "and every N",
                    keyword);
  MD_TRY(md_region_find(sim, value, &region));
  snprintf(g->region, sizeof g->region, "%s", region->id);
  return MD_OK;
}

static md_status parse(md_output_fix *base, md_sim *sim, const md_words *words)
{
  dynamic_group *g = (dynamic_group *)base;
  g->group = base->observer.group;
  base->observer.group = 0;
  g->every = 1;
  MD_TRY(md_group_find(sim, words->word[0], &g->parent));
  if (g->parent == g->group || md_dynamic_group_is(sim, g->parent))
    return md_error(MD_USAGE, "group dynamic: the parent %s must be another group, which does not change",
                    words->word[0]);
  if (words->n % 2 == 0)
    return md_error(MD_USAGE, "group dynamic %s: its value is missing", words->word[words->n - 1]);
  for (int w = 1; w < words->n; w += 2) MD_TRY(read_keyword(g, sim, words->word[w], words->word[w + 1]));
  return MD_OK;
}

static int64_t edit_due(const md_output_fix *base, int64_t step)
{
  return md_step_multiple(step, ((const dynamic_group *)base)->every);
}

/* Clears in[i] of the particles for which the value is 0. */
static md_status keep_where(md_sim *sim, const char *name, uint8_t *in)
{
  const int64_t n = sim->particles.n;
  double *value;
  MD_TRY(md_comm_agree(sim->comm, md_array_new(&value, n, sizeof *value, "the values of a dynamic group")));
  const md_status status = md_particle_values_of(sim, name, value);
  for (int64_t i = 0; i < n && status == MD_OK; ++i) in[i] = in[i] && value[i] != 0.0;
  free(value);
  return status;
}

static md_status find_members(const dynamic_group *g, md_sim *sim, uint8_t *in)
{
  md_particles *p = &sim->particles;
  const md_region *region = NULL;
  if (g->region[0]) MD_TRY(md_region_find(sim, g->region, &region));
  for (int64_t i = 0; i < p->n; ++i)
    in[i] = md_particles_in_group(p, md_group_bit(g->parent), i) && (!region || md_region_has(region, p, i));
  for (int v = 0; v < 2; ++v)
    if (g->value[v][0]) MD_TRY(keep_where(sim, g->value[v], in));
  const uint32_t bit = md_group_bit(g->group);
  for (int64_t i = 0; i < p->n; ++i) p->group[i] = in[i] ? p->group[i] | bit : p->group[i] & ~bit;
  return MD_OK;
}

static md_status edit(md_output_fix *base, md_sim *sim)
{
  uint8_t *in;
  MD_TRY(md_comm_agree(sim->comm, md_array_new_zero(&in, sim->particles.n, 1, "a dynamic group")));
  const md_status status = find_members((const dynamic_group *)base, sim, in);
  free(in);
  return status;
}

static const md_output_fix_style style = {.name = "group",
                                          .size = sizeof(dynamic_group),
                                          .parse = parse,
                                          .edit_due = edit_due,
                                          .edit = edit,
                                          .edits_first = true};

static md_output_fix *find(const md_sim *sim, int group)
{
  for (md_observer *o = sim->observers; o && md_is_output_fix(o); o = o->next)
    if (((md_output_fix *)o)->style == &style && ((dynamic_group *)o)->group == group)
      return (md_output_fix *)o;
  return NULL;
}

bool md_dynamic_group_is(const md_sim *sim, int group) { return find(sim, group) != NULL; }

bool md_dynamic_group_has_parent(const md_sim *sim, int group)
{
  for (const md_observer *o = sim->observers; o && md_is_output_fix(o); o = o->next)
    if (((const md_output_fix *)o)->style == &style && ((const dynamic_group *)o)->parent == group)
      return true;
  return false;
}

md_status md_dynamic_group_end(md_sim *sim, int group)
{
  md_output_fix *fix = find(sim, group);
  return fix ? md_output_fix_remove(sim, fix) : MD_OK;
}

md_status md_dynamic_group_make(md_sim *sim, int group, const md_words *words)
{
  char id[64];
  snprintf(id, sizeof id, "GROUP_%.53s", sim->model.groups.name[group]);
  md_output_fix *old = find(sim, group);
  MD_TRY(old ? md_output_fix_replace(sim, old, group, words)
             : md_output_fix_new(sim, &style, id, group, words));
  return sim->planning.checking ? MD_OK : edit(find(sim, group), sim);
}
