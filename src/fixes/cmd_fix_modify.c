/* The command fix_modify, and the values of fixes by name, f_ID and f_ID[K].
 *
 * Fixes that act on forces have values: an energy, a vector (common/fix/fix.h). A view has them after md_view_forces.
 * Thermostats with a state have the energy that they have taken from the particles.
 */
#include "src/averages/output_fix.h"
#include "src/fixes/fixes.h"
#include "src/restart/resume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* fix_modify temp ID: the temperature that a thermostat measures, and the bias that it leaves alone. */
static md_status set_temp(md_model *model, md_fix *fix, const char *id)
{
  const md_fix_style *style = md_fix_style_of(fix->kind);
  int index;
  char what[64];
  if (!style->takes_temp)
    return md_error(MD_USAGE, "fix_modify temp: fix %s does not take another temperature", style->name);
  snprintf(what, sizeof what, "the temperature of fix %s", style->name);
  MD_TRY(md_compute_temperature(model, what, id, true, &index));
  memcpy(fix->temp, model->compute[index].id, sizeof fix->temp);
  return MD_OK;
}

/* Executes a keyword with its value. */
static md_status modify(md_sim *sim, md_fix *fix, const char *keyword, const char *value)
{
  const bool energy = strcmp(keyword, "energy") == 0;
  bool yes;
  if (strcmp(keyword, "temp") == 0) return set_temp(&sim->model, fix, value);
  MD_TRY(md_word_bool(value, keyword, &yes));
  if (!energy && yes && !md_fix_style_of(fix->kind)->external)
    return md_error(MD_USAGE,
                    "fix_modify: only 'virial no' is accepted: fixes do not count for the pressure, except "
                    "external");
  if (!energy) {
    fix->virial = yes;
    return MD_OK;
  }
  if (yes) MD_TRY(md_fix_check_energy(&sim->model, fix));
  fix->energy = yes;
  return MD_OK;
}

md_status md_do_fix_modify(md_sim *sim, const md_words *words)
{
  const char *id = words->word[0];
  int index;
  const md_fix_name *name = *md_sim_find_fix(sim, id, strlen(id), &index);
  if (!name) return md_sim_unknown_fix(sim, "fix_modify", id);
  if (name->output) return md_error(MD_USAGE, "fix_modify: the fix %s has no energy and no temperature", id);
  md_fix now = sim->model.fix[index];
  for (int w = 1; w < words->n; w += 2) {
    const char *keyword = words->word[w];
    if (strcmp(keyword, "energy") != 0 && strcmp(keyword, "virial") != 0 && strcmp(keyword, "temp") != 0)
      return md_error(
          MD_USAGE,
          "fix_modify: unknown keyword '%.64s'; accepted are energy yes|no, temp ID and virial yes|no",
          keyword);
    if (w + 1 == words->n) return md_error(MD_USAGE, "fix_modify %s: its value is missing", keyword);
    MD_TRY(modify(sim, &now, keyword, words->word[w + 1]));
  }
  sim->model.fix[index] = now;
  return MD_OK;
}

bool md_is_fix_value(const char *name) { return strncmp(name, "f_", 2) == 0; }

/* Reads [K] after the ID, from 1 to `size`. */
static md_status read_component(const char *name, const char *bracket, int size, int *component)
{
  char *end;
  const long k = strtol(bracket + 1, &end, 10);
  if (strcmp(end, "]") != 0 || end == bracket + 1 || k < 1 || k > size)
    return md_error(MD_USAGE, "%.80s: the vector of this fix has %d values", name, size);
  *component = (int)k - 1;
  return MD_OK;
}

md_status md_fix_named(md_sim *sim, const char *name, int *fix, int *component)
{
  const char *id = name + 2, *bracket = strchr(id, '[');
  const md_fix_name *found = *md_sim_find_fix(sim, id, bracket ? (size_t)(bracket - id) : strlen(id), fix);
  if (!found) return md_error(MD_USAGE, "%.80s: there is no such fix", name);
  if (found->output) {
    *fix = *component = -1;
    return md_values_check(&md_output_fix_find(sim, found->id, strlen(found->id))->values, name, false);
  }
  if (bracket) return read_component(name, bracket, md_fix_vector_size(&sim->model, *fix), component);
  *component = -1;
  if (md_fix_is_coupled(&sim->model, *fix)) return MD_OK;
  if (md_fix_style_of(sim->model.fix[*fix].kind)->scalar) return MD_OK;
  const md_status status = md_fix_check_energy(&sim->model, &sim->model.fix[*fix]);
  if (status != MD_OK) md_error_prefix("%.80s: ", name);
  return status;
}

/* A value of an output fix. */
typedef struct named_value {
  const md_output_fix *fix;
  const char *name;
} named_value;

static md_status read_output_fix(void *context, double *value)
{
  const named_value *v = context;
  return md_values_number(&v->fix->values, v->name, value);
}

md_status md_fix_value(md_sim *sim, const char *name, double *value)
{
  int fix, component;
  MD_TRY(md_fix_named(sim, name, &fix, &component));
  *value = 1.0;
  if (sim->planning.checking) return MD_OK;
  if (fix < 0) {
    named_value output = {md_output_fix_find(sim, name + 2, strcspn(name + 2, "[")), name};
    return md_resume_measure(sim, read_output_fix, &output, value);
  }
  if (!sim->view)
    return md_error(MD_USAGE, "%.80s is known only while a run shows a step: use it in thermo_style custom",
                    name);
  if (md_fix_style_of(sim->model.fix[fix].kind)->external) MD_TRY(md_view_external(sim->view));
  if (md_fix_style_of(sim->model.fix[fix].kind)->scalar) {
    *value = md_fix_style_of(sim->model.fix[fix].kind)->scalar(&sim->model.fix[fix]);
    return MD_OK;
  }
  if (md_fix_is_coupled(&sim->model, fix)) {
    *value = md_fix_coupled(&sim->model, fix);
    return MD_OK;
  }
  MD_TRY(md_view_forces(sim->view));
  const md_forced *forced = &sim->view->forced[fix];
  *value = component < 0 ? forced->energy : forced->vector[component];
  return MD_OK;
}
