/* The commands fix and unfix.
 *
 * Styles that act on particles are in common/fix/fix_styles.h. Such a fix goes into the model's list, and the model's
 * settings are made anew from the whole list. Other styles are in src/averages/output_fixes.def. sim->fixes has the IDs
 * of all, in the order of the deck, so that unfix finds a fix in both lists.
 */
#include "common/base/name_list.h"
#include "src/averages/output_fix.h"
#include "src/create/lattice.h"
#include "src/fixes/anchors.h"
#include "src/fixes/external.h"
#include "src/fixes/fixes.h"
#include "src/group/groups.h"
#include "src/region/region.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fixes of LAMMPS that cannot be here, and why. */
static const struct {
  const char *name, *why;
} impossible[] = {
    {"dt/reset",
     "the timestep stays the same in a run, because the grids of impulses follow from it; give the command "
     "timestep between runs, or in run N every M 'timestep DT'"}};

static md_status unknown_style(const char *name)
{
  for (size_t k = 0; k < sizeof impossible / sizeof *impossible; ++k)
    if (strcmp(impossible[k].name, name) == 0)
      return md_error(MD_USAGE, "fix %s is not available: %s", name, impossible[k].why);
  char list[2048] = "";
  const md_output_fix_style *output;
  for (int s = 0; s < MD_FIX_KINDS; ++s)
    md_name_list_add(list, sizeof list, "; ", md_fix_style_of((md_fix_kind)s)->name);
  for (int s = 0; (output = md_output_fix_style_at(s)); ++s)
    md_name_list_add(list, sizeof list, "; ", output->name);
  return md_error(MD_USAGE,
                  "unknown fix style '%.32s' (`myriad help fix` has their arguments); accepted are: %s", name,
                  list);
}

/* A fix that goes on from a restart takes the state that the first fix of its style and group had there. */
static void take_state(md_sim *sim, md_fix *fix)
{
  int f = 0;
  while (f < sim->nrestored && (sim->restored[f].kind != fix->kind || sim->restored[f].group != fix->group))
    ++f;
  if (f == sim->nrestored) return;
  memcpy(fix->state, sim->restored[f].state, sizeof fix->state);
  --sim->nrestored;
  memmove(&sim->restored[f], &sim->restored[f + 1], (size_t)(sim->nrestored - f) * sizeof *sim->restored);
  md_log_print(sim->log, "  fix %s goes on with its state in the restart\n",
               md_fix_style_of(fix->kind)->name);
}

static md_status find_block(const void *context, const char *id, md_bias *bias)
{
  const md_region *region;
  MD_TRY(md_region_find(context, id, &region));
  MD_TRY(md_region_need_block(region, "a fix"));
  *bias = md_region_bias(region, ((const md_sim *)context)->model.box.dim);
  return MD_OK;
}

static md_status find_shape(const void *context, const char *id, double k[SHAPE_K])
{
  const md_region *region;
  MD_TRY(md_region_find(context, id, &region));
  return md_region_shape(region, k);
}

static md_status find_group(const void *context, const char *name, int *group)
{
  return md_group_find(context, name, group);
}

static md_fix_scope scope_of(md_sim *sim)
{
  md_fix_scope scope = {.box = &sim->model.box,
                        .context = sim,
                        .block = find_block,
                        .shape = find_shape,
                        .group = find_group,
                        .step = sim->model.step};
  for (int d = 0; d < 3; ++d) scope.lattice[d] = md_lattice_unit(sim, d);
  return scope;
}

md_status md_fixes_find_regions(md_sim *sim)
{
  const md_fix_scope scope = scope_of(sim);
  for (int f = 0; f < sim->model.nfix; ++f) MD_TRY(md_fix_find_region(&sim->model.fix[f], &scope));
  return MD_OK;
}

/* Makes fix `index` of the model, a new one after the others or one that takes the place of an earlier one. After an
 * error the model is as before. */
static md_status put_into_model(md_sim *sim, const md_fix_style *style, md_fix_kind kind, int group,
                                int index, const md_words *words)
{
  md_model *model = &sim->model;
  char what[64];
  snprintf(what, sizeof what, "fix %s", style->name);
  if (style->all_only && group != 0)
    return md_error(MD_USAGE, "fix %s acts on the group all, not on %s", style->name,
                    model->groups.name[group]);
  if (style->needs_box) MD_TRY(md_sim_need_box(sim, what));
  if (index == MD_FIXES_MAX) return md_error(MD_USAGE, "at most %d fixes are accepted", MD_FIXES_MAX);
  const md_fix_scope scope = scope_of(sim);
  md_fix fix = {.kind = kind, .group = group};
  MD_TRY(style->parse(&fix, words, &scope));
  const int before = model->nfix;
  const md_fix old = model->fix[index];
  model->fix[index] = fix;
  if (index == before) ++model->nfix;
  md_status status = md_fixes_join(model);
  if (status == MD_OK) {
    if (style->note) md_sim_explain(sim, what, style->note);
    take_state(sim, &model->fix[index]);
  }
  if (status == MD_OK) status = md_anchors_begin(sim, index);
  if (status == MD_OK) status = md_external_begin(sim, index);
  if (status == MD_OK) return MD_OK;
  md_error_record why;
  md_error_save(&why, status);
  model->nfix = before;
  model->fix[index] = old;
  const md_status again = md_fixes_join(model);
  return again == MD_OK ? md_error_restore(&why) : again;
}

static const char *style_name(const md_sim *sim, const md_fix_name *name, int index)
{
  if (name->output) return md_output_fix_find(sim, name->id, strlen(name->id))->style->name;
  return md_fix_style_of(sim->model.fix[index].kind)->name;
}

md_status md_do_fix(md_sim *sim, const md_words *words)
{
  const char *id = words->word[0], *style = words->word[2];
  int index;
  md_fix_name **link = md_sim_find_fix(sim, id, strlen(id), &index);
  if (*link && strcmp(style, style_name(sim, *link, index)) != 0)
    return md_error(MD_USAGE, "fix %s exists already (%s): unfix it first, or choose another ID", id,
                    style_name(sim, *link, index));
  if (strlen(id) >= sizeof(*link)->id)
    return md_error(MD_USAGE, "the fix ID '%.64s' is longer than %zu letters", id, sizeof(*link)->id - 1);
  int group;
  MD_TRY(md_group_find(sim, words->word[1], &group));
  const md_fix_kind kind = md_fix_find(style);
  const md_output_fix_style *output = md_output_fix_style_find(style);
  if (!output && kind == MD_FIX_KINDS) return unknown_style(style);
  const md_words after = {words->n - 3, words->word + 3};
  /* A fix of the same ID and style takes the place of the one before, as in LAMMPS. */
  if (*link && output)
    return md_output_fix_replace(sim, md_output_fix_find(sim, id, strlen(id)), group, &after);
  if (*link) return put_into_model(sim, md_fix_style_of(kind), kind, group, index, &after);
  md_fix_name *name = calloc(1, sizeof *name);
  if (!name) return md_error(MD_RUNTIME, "out of memory for fix %s", id);
  memcpy(name->id, id, strlen(id) + 1);
  name->output = output != NULL;
  const md_status status =
      output ? md_output_fix_new(sim, output, id, group, &after)
             : put_into_model(sim, md_fix_style_of(kind), kind, group, sim->model.nfix, &after);
  if (status == MD_OK)
    *link = name;
  else
    free(name);
  return status;
}

md_status md_do_unfix(md_sim *sim, const md_words *words)
{
  md_model *model = &sim->model;
  int index;
  md_fix_name **link = md_sim_find_fix(sim, words->word[0], strlen(words->word[0]), &index), *name = *link;
  if (!name) return md_sim_unknown_fix(sim, "unfix", words->word[0]);
  md_output_fix *output = name->output ? md_output_fix_find(sim, name->id, strlen(name->id)) : NULL;
  *link = name->next;
  free(name);
  if (output) return md_output_fix_remove(sim, output);
  --model->nfix;
  memmove(&model->fix[index], &model->fix[index + 1], (size_t)(model->nfix - index) * sizeof *model->fix);
  MD_TRY(md_anchors_end(sim));
  MD_TRY(md_external_end(sim));
  return md_fixes_join(model);
}
