/* Making, counting and freeing a simulation; see sim.h. */
#include "src/sim.h"
#include "common/base/name_list.h"
#include "common/ranks/reductions.h"
#include "src/computes/host_compute.h"
#include "src/group/groups.h"
#include "src/properties/id_values.h"
#include "src/region/region.h"

#include <stdlib.h>
#include <string.h>

static md_status keyword(void *context, const char *name, double *value, bool *known)
{
  return md_sim_keyword(context, name, value, known);
}

md_status md_sim_need_present(const md_sim *sim, const char *name)
{
  if (!sim->foretells) return MD_OK;
  return md_error(MD_USAGE,
                  "'%.64s' is not known before the step is done; accepted are the step, the time, the box "
                  "and functions of the step such as ramp(x,y)",
                  name);
}

md_status md_sim_init(md_sim *sim)
{
  *sim = (md_sim){.options.gpu.device = -1, .restarts.last_step = -1, .piece = 1};
  md_model_init(&sim->model);
  md_particles_init(&sim->particles, sim->model.box.dim);
  md_thermo_init(&sim->thermo);
  sim->minimize = md_min_settings_default();
  return md_variables_new(&sim->variables, keyword, sim);
}

/* Destroys all observers. Returns the first error. */
static md_status destroy_observers(md_sim *sim)
{
  md_error_record first;
  md_error_save(&first, MD_OK);
  while (sim->observers) {
    md_observer *observer = sim->observers;
    sim->observers = observer->next;
    const md_status status = observer->destroy(observer);
    if (first.status == MD_OK && status != MD_OK) md_error_save(&first, status);
  }
  return md_error_restore(&first);
}

md_status md_sim_end_observers(md_sim *sim) { return md_comm_agree(sim->comm, destroy_observers(sim)); }

/* Frees what commands have made, except variables and what belongs to the deck. An error of before remains the one to
 * report. */
static void free_system(md_sim *sim)
{
  md_error_record before;
  md_error_save(&before, MD_OK);
  if (destroy_observers(sim) != MD_OK) (void)md_error_restore(&before);
  while (sim->fixes) {
    md_fix_name *fix = sim->fixes;
    sim->fixes = fix->next;
    free(fix);
  }
  md_regions_free(sim);
  md_host_computes_free(sim);
  md_id_values_free_all(sim);
  for (int k = 0; k < 2; ++k) free(sim->restarts.name[k]);
  md_particles_free(&sim->particles);
  md_model_free(&sim->model);
}

void md_sim_append_observer(md_sim *sim, md_observer *observer)
{
  md_observer **at = &sim->observers;
  while (*at) at = &(*at)->next;
  *at = observer;
}

void md_sim_free(md_sim *sim)
{
  free_system(sim);
  while (sim->explained) {
    md_explained *e = sim->explained;
    sim->explained = e->next;
    free(e);
  }
  md_history_free(&sim->history);
  md_script_free(&sim->script);
  md_variables_free(sim->variables);
}

md_status md_sim_clear(md_sim *sim)
{
  MD_TRY(md_sim_end_observers(sim));
  free_system(sim);
  md_restarts *r = &sim->restarts;
  r->every = r->next = 0;
  r->name[0] = r->name[1] = NULL;
  r->last_step = -1;
  sim->lattice = (md_lattice){0};
  sim->has_box = sim->has_computed = sim->has_first_energy = sim->broken = sim->large_tilt = false;
  sim->nrestored = 0;
  sim->nmissing = 0;
  sim->run_work = sim->run_neighbours = sim->run_builds = sim->run_seconds = 0.0;
  sim->computed = (md_computed){0};
  sim->tensor = (md_last_tensor){.known = false};
  sim->max_id = 0;
  sim->halted = MD_HALT_NONE;
  sim->images_missed = sim->from_restart = false;
  md_model_init(&sim->model);
  md_particles_init(&sim->particles, sim->model.box.dim);
  md_thermo_init(&sim->thermo);
  sim->minimize = md_min_settings_default();
  return MD_OK;
}

void md_sim_explain(md_sim *sim, const char *name, const char *text)
{
  for (const md_explained *e = sim->explained; e; e = e->next)
    if (strcmp(e->name, name) == 0) return;
  md_explained *e = calloc(1, sizeof *e);
  if (e) {
    strncpy(e->name, name, sizeof e->name - 1);
    e->next = sim->explained;
    sim->explained = e;
  }
  md_log_print(sim->log, "Note: %s: %s\n", name, text);
}

md_status md_sim_count(md_sim *sim)
{
  int64_t total = sim->particles.n;
  MD_TRY(sim->comm->reduce->sum(sim->comm, &total, 1));
  int64_t max_id = 0;
#pragma omp parallel for schedule(static) reduction(max : max_id)
  for (int64_t i = 0; i < sim->particles.n; ++i)
    if (sim->particles.id[i] > max_id) max_id = sim->particles.id[i];
  /* The reduction works in double. Two halves of 32 bits are each exact there, so ids beyond 2^53 survive. */
  double high = (double)(max_id >> 32);
  MD_TRY(sim->comm->reduce->max(sim->comm, &high, 1));
  double low = (double)(max_id >> 32) == high ? (double)(max_id & INT64_C(0xffffffff)) : 0.0;
  MD_TRY(sim->comm->reduce->max(sim->comm, &low, 1));
  sim->model.natoms = total;
  sim->max_id = ((int64_t)high << 32) | (int64_t)low;
  return md_groups_count(sim);
}

md_status md_sim_use_file(md_sim *sim, md_file_role role, const char *id, const char *path)
{
  if (!sim->files || sim->planning.on) return MD_OK;
  return md_comm_agree(sim->comm, sim->comm->rank == 0 ? md_file_use(sim->files, role, id, path) : MD_OK);
}

md_status md_sim_need_box(const md_sim *sim, const char *command)
{
  if (sim->has_box) return MD_OK;
  return md_error(MD_USAGE, "%s needs a box: use create_box or read_data first", command);
}

md_fix_name **md_sim_find_fix(md_sim *sim, const char *id, size_t n, int *index)
{
  md_fix_name **link = &sim->fixes;
  *index = 0;
  while (*link && (strlen((*link)->id) != n || memcmp((*link)->id, id, n) != 0)) {
    if (!(*link)->output) ++*index;
    link = &(*link)->next;
  }
  return link;
}

md_status md_sim_unknown_fix(const md_sim *sim, const char *command, const char *id)
{
  char known[512] = "";
  for (const md_fix_name *fix = sim->fixes; fix; fix = fix->next)
    md_name_list_add(known, sizeof known, " ", fix->id);
  return md_error(MD_USAGE, "%s: there is no fix '%.64s'; there are: %s", command, id,
                  known[0] ? known : "none");
}
