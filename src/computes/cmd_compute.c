/* The commands compute, uncompute and compute_modify, and the values of computes by name, c_ID and c_ID[K].
 *
 * The styles are in common/compute/compute_styles.h. A compute goes into the model's list. Its value belongs to a
 * step that a run has measured: thermo columns and formulas read it.
 */
#include "common/base/name_list.h"
#include "src/computes/computes.h"
#include "src/computes/host_compute.h"
#include "src/create/lattice.h"
#include "src/group/groups.h"
#include "src/output/observer.h"
#include "src/region/region.h"
#include "src/restart/resume.h"
#include "src/sums/temperature.h"

#include <stdlib.h>
#include <string.h>

static md_status unknown_style(const char *name)
{
  char list[2048] = "";
  const md_host_compute_style *host;
  for (int s = 0; s < MD_COMPUTE_KINDS; ++s)
    md_name_list_add(list, sizeof list, "; ", md_compute_style_of((md_compute_kind)s)->name);
  for (int s = 0; (host = md_host_compute_style_at(s)); ++s)
    md_name_list_add(list, sizeof list, "; ", host->name);
  return md_error(
      MD_USAGE, "unknown compute style '%.32s' (`myriad help compute` has their arguments); accepted are: %s",
      name, list);
}

/* A block is a bias, which engines know. */
static md_status find_region(const md_sim *sim, md_compute *compute)
{
  md_region *region;
  if (compute->kind != MD_COMPUTE_temp_region) return MD_OK;
  MD_TRY(md_region_named(sim, compute->of, &region));
  compute->bias = md_region_is_block(region) && !sim->model.box.triclinic
                      ? md_region_bias(region, sim->model.box.dim)
                      : (md_bias){MD_BIAS_NONE, {0.0}};
  return MD_OK;
}

md_status md_computes_find_regions(md_sim *sim)
{
  for (int c = 0; c < sim->model.ncompute; ++c) MD_TRY(find_region(sim, &sim->model.compute[c]));
  return MD_OK;
}

/* Reads the words after the name of the style. What they name must exist. */
static md_status parse(md_sim *sim, const md_words *words, md_compute *compute)
{
  const md_compute_style *style = md_compute_style_of(compute->kind);
  md_compute_scope scope = {.box = &sim->model.box};
  int temperature;
  for (int d = 0; d < 3; ++d) scope.lattice[d] = md_lattice_unit(sim, d);
  if (style->parse)
    MD_TRY(style->parse(compute, words, &scope));
  else if (words->n > 0)
    return md_error(MD_USAGE, "compute %s: unexpected '%.64s'", style->name, words->word[0]);
  if (compute->kind == MD_COMPUTE_temp_region) {
    const md_region *region;
    MD_TRY(md_region_find(sim, compute->of, &region));
    return find_region(sim, compute);
  }
  if (!compute->of[0]) return MD_OK;
  return md_compute_temperature(&sim->model, "compute pressure", compute->of, true, &temperature);
}

md_status md_do_compute(md_sim *sim, const md_words *words)
{
  md_model *model = &sim->model;
  const char *id = words->word[0], *name = words->word[2];
  const md_compute_kind kind = md_compute_find(name);
  const md_words after = {words->n - 3, words->word + 3};
  md_compute compute = {.kind = kind};
  const md_host_compute_style *host = md_host_compute_style_find(name);
  if (md_compute_index(model, id, strlen(id)) >= 0 || md_host_compute_find(sim, id, strlen(id)))
    return md_error(MD_USAGE, "compute %s exists already: choose another ID, or uncompute it first", id);
  if (strlen(id) >= sizeof compute.id || strspn(id, MD_COMPUTE_LETTERS) != strlen(id))
    return md_error(MD_USAGE, "compute: the ID '%.80s' must have at most %zu letters, digits and _", id,
                    sizeof compute.id - 1);
  MD_TRY(md_group_find(sim, words->word[1], &compute.group));
  if (host) return md_host_compute_new(sim, host, id, compute.group, &after);
  if (kind == MD_COMPUTE_KINDS) return unknown_style(name);
  const md_compute_style *style = md_compute_style_of(kind);
  if (style->all_only && compute.group != 0)
    return md_error(MD_USAGE, "compute %s is of the group all, not of %s", name, words->word[1]);
  MD_TRY(parse(sim, &after, &compute));
  if (model->ncompute == MD_COMPUTES_MAX)
    return md_error(MD_USAGE, "at most %d computes are accepted, with the %d that every run has",
                    MD_COMPUTES_MAX, MD_COMPUTES_STANDARD);
  memcpy(compute.id, id, strlen(id) + 1);
  model->compute[model->ncompute++] = compute;
  return MD_OK;
}

/* Fills the text with the IDs of all computes. */
static const char *known_computes(const md_sim *sim, char known[512])
{
  known[0] = '\0';
  for (int c = 0; c < sim->model.ncompute; ++c) md_name_list_add(known, 512, " ", sim->model.compute[c].id);
  for (const md_host_compute *host = sim->host_computes; host; host = host->next)
    md_name_list_add(known, 512, " ", host->id);
  return known;
}

md_status md_do_uncompute(md_sim *sim, const md_words *words)
{
  md_model *model = &sim->model;
  const char *id = words->word[0];
  char known[512];
  const int c = md_compute_index(model, id, strlen(id));
  md_host_compute *host = md_host_compute_find(sim, id, strlen(id));
  if (host) {
    md_host_compute_remove(sim, host);
    return MD_OK;
  }
  if (c < 0)
    return md_error(MD_USAGE, "uncompute: there is no compute '%.64s'; there are: %s", id,
                    known_computes(sim, known));
  if (c < MD_COMPUTES_STANDARD) return md_error(MD_USAGE, "uncompute: every run has the compute %s", id);
  const size_t after = (size_t)(--model->ncompute - c);
  memmove(&model->compute[c], &model->compute[c + 1], after * sizeof *model->compute);
  memmove(sim->computed.value[c], sim->computed.value[c + 1], after * sizeof *sim->computed.value);
  if (sim->computed.n > c) --sim->computed.n;
  /* Other computes have other numbers now. */
  sim->tensor.known = false;
  return MD_OK;
}

/* compute_modify extra/dof N: the temperature has N degrees of freedom less than its particles. */
static md_status set_extra(md_compute *compute, const char *value)
{
  if (!md_compute_style_of(compute->kind)->temperature)
    return md_error(MD_USAGE, "compute_modify: compute '%s' is not a temperature, which extra/dof needs",
                    compute->id);
  MD_TRY(md_word_double(value, "compute_modify extra/dof", &compute->extra));
  compute->has_extra = true;
  return MD_OK;
}

md_status md_do_compute_modify(md_sim *sim, const md_words *words)
{
  const char *id = words->word[0];
  const int c = md_compute_index(&sim->model, id, strlen(id));
  bool yes;
  if (c < 0) return md_error(MD_USAGE, "compute_modify: there is no compute '%.64s'", id);
  md_compute now = sim->model.compute[c];
  for (int w = 1; w < words->n; w += 2) {
    const char *keyword = words->word[w];
    const bool extra = strcmp(keyword, "extra/dof") == 0 || strcmp(keyword, "extra") == 0;
    if (!extra && strcmp(keyword, "dynamic/dof") != 0 && strcmp(keyword, "dynamic") != 0)
      return md_error(MD_USAGE,
                      "compute_modify: unknown keyword '%.64s'; accepted are extra/dof N, dynamic/dof yes|no",
                      keyword);
    if (w + 1 == words->n) return md_error(MD_USAGE, "compute_modify %s: its value is missing", keyword);
    if (extra)
      MD_TRY(set_extra(&now, words->word[w + 1]));
    else
      MD_TRY(md_word_bool(words->word[w + 1], "compute_modify dynamic/dof", &yes));
  }
  sim->model.compute[c] = now;
  return MD_OK;
}

bool md_is_compute(const char *name) { return strncmp(name, "c_", 2) == 0; }

md_status md_compute_named(const md_sim *sim, const char *name, const md_compute **compute, int *value)
{
  const md_model *model = &sim->model;
  const char *id = name + 2, *bracket = strchr(id, '[');
  char known[512];
  const int c = md_compute_index(model, id, bracket ? (size_t)(bracket - id) : strlen(id));
  if (c < 0)
    return md_error(MD_USAGE, "%.80s: there is no such compute; there are:%s", name,
                    known_computes(sim, known));
  *compute = &model->compute[c];
  const bool tensor = md_compute_has_tensor(*compute);
  const int nvalue = tensor ? MD_TENSOR : md_compute_count(*compute);
  *value = tensor ? -1 : 0;
  if (!bracket) {
    if (tensor || nvalue <= 1) return MD_OK;
    return md_error(MD_USAGE, "%.80s: this compute has %d values; write c_%s[1]", name, nvalue,
                    (*compute)->id);
  }
  if (nvalue == 0)
    return md_error(
        MD_USAGE,
        "%.80s: this compute has a value for each particle; in the formula of a variable, c_%s[N] "
        "is that of particle N",
        name, (*compute)->id);
  char *end;
  const long k = strtol(bracket + 1, &end, 10);
  if (strcmp(end, "]") != 0 || end == bracket + 1 || k < 1 || k > nvalue || nvalue < 2)
    return md_error(MD_USAGE, "%.80s: this compute has %d value%s", name, nvalue, nvalue == 1 ? "" : "s");
  *value = (int)k - 1;
  return MD_OK;
}

/* A component of the pressure of the last output. */
typedef struct last_component {
  md_sim *sim;
  const char *name;
  int pressure, component;
} last_component;

static md_status read_last_component(void *context, double *value)
{
  const last_component *v = context;
  const md_last_tensor *last = &v->sim->tensor;
  if (!last->known || last->of != v->pressure)
    return md_error(MD_USAGE,
                    "%.80s is only known at an output of a run, and after a run whose last output shows it",
                    v->name);
  *value = last->value[v->component];
  return MD_OK;
}

/* The tensor of the last output, between runs. A run that goes on from a restart recalls it. */
static md_status recall_tensor(md_sim *sim, const char *name, int pressure, const double **tensor)
{
  for (int c = 0; c < MD_TENSOR; ++c) {
    last_component v = {sim, name, pressure, c};
    MD_TRY(md_resume_measure(sim, read_last_component, &v, &sim->tensor.value[c]));
  }
  sim->tensor.known = true;
  sim->tensor.of = pressure;
  *tensor = sim->tensor.value;
  return MD_OK;
}

md_status md_compute_tensor(md_sim *sim, const char *name, int pressure, const double **tensor)
{
  const md_compute *compute = &sim->model.compute[pressure];
  static const double stand_in[MD_TENSOR] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
  if (compute->k[0] == 0.0) {
    int temperature;
    MD_TRY(md_compute_temperature(&sim->model, name, compute->of, true, &temperature));
  }
  if (sim->check && sim->has_computed) {
    *tensor = stand_in;
    return MD_OK;
  }
  if (!sim->view) return recall_tensor(sim, name, pressure, tensor);
  MD_TRY(md_view_tensor(sim->view, pressure));
  *tensor = sim->view->tensor;
  return MD_OK;
}

/* A component of the motion of a temperature. */
typedef struct motion_component {
  md_sim *sim;
  int temperature, component;
} motion_component;

static md_status read_motion(void *context, double *value)
{
  const motion_component *v = context;
  double motion[MD_TENSOR];
  if (v->sim->view) {
    MD_TRY(md_view_motion(v->sim->view, v->temperature));
    *value = v->sim->view->motion[v->component];
    return MD_OK;
  }
  MD_TRY(md_temperature_tensor(v->sim, &v->sim->model.compute[v->temperature], motion));
  *value = motion[v->component];
  return MD_OK;
}

static md_status component_of(md_sim *sim, const char *name, int compute, int component, double *value)
{
  const double *tensor;
  if (md_compute_style_of(sim->model.compute[compute].kind)->tensor) {
    MD_TRY(md_compute_tensor(sim, name, compute, &tensor));
    *value = tensor[component];
    return MD_OK;
  }
  *value = 1.0;
  return sim->planning.checking
             ? MD_OK
             : md_resume_measure(sim, read_motion, &(motion_component){sim, compute, component}, value);
}

/* A value of a host compute. */
typedef struct host_value {
  md_sim *sim;
  md_host_compute *compute;
  const char *name;
} host_value;

static md_status read_host(void *context, double *value)
{
  const host_value *v = context;
  MD_TRY(md_host_compute_update(v->sim, v->compute));
  return md_values_number(&v->compute->values, v->name, value);
}

static md_status host_compute_value(md_sim *sim, md_host_compute *compute, const char *name, double *value)
{
  MD_TRY(md_values_check(&compute->values, name, false));
  *value = 1.0;
  return sim->planning.checking ? MD_OK
                                : md_resume_measure(sim, read_host, &(host_value){sim, compute, name}, value);
}

md_status md_compute_value(md_sim *sim, const char *name, double *value)
{
  md_host_compute *host = md_host_compute_find(sim, name + 2, strcspn(name + 2, "["));
  if (host) return host_compute_value(sim, host, name, value);
  const md_compute *compute;
  const md_computed *computed = &sim->computed;
  int k;
  MD_TRY(md_compute_named(sim, name, &compute, &k));
  if (md_compute_style_of(compute->kind)->nvalue == 0)
    return md_error(MD_USAGE, "%.80s: this compute has a value for each particle: it is a column of dumps",
                    name);
  const int c = (int)(compute - sim->model.compute);
  if (md_compute_has_tensor(compute) && k >= 0) return component_of(sim, name, c, k, value);
  if (sim->view) {
    MD_TRY(md_view_compute(sim->view));
    computed = &sim->view->computed;
  }
  if ((!sim->view && !sim->has_computed) || c >= computed->n)
    return md_error(MD_USAGE, "%.80s is not known before the first run; use `run 0` first", name);
  *value = computed->value[c][k < 0 ? 0 : k];
  return MD_OK;
}
