/* The list of host computes, and when their values are found; see host_compute.h. */
#include "src/computes/host_compute.h"
#include "common/ranks/reductions.h"
#include "src/group/dynamic_group.h"
#include "src/output/observer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const md_host_compute_style *const styles[] = {
#define MD_HOST_COMPUTE(symbol) &md_compute_##symbol##_style,
#include "src/computes/host_computes.def"
#undef MD_HOST_COMPUTE
};
enum { STYLES = sizeof styles / sizeof styles[0] };

const md_host_compute_style *md_host_compute_style_at(int k) { return k < STYLES ? styles[k] : NULL; }

const md_host_compute_style *md_host_compute_style_find(const char *name)
{
  int k = 0;
  while (k < STYLES && strcmp(styles[k]->name, name) != 0) ++k;
  return md_host_compute_style_at(k);
}

static void free_compute(md_host_compute *compute)
{
  if (compute->style->free) compute->style->free(compute);
  free(compute->each);
  free(compute);
}

md_status md_host_compute_new(md_sim *sim, const md_host_compute_style *style, const char *id, int group,
                              const md_words *words)
{
  md_host_compute *compute = calloc(1, style->size);
  if (!compute) return md_error(MD_RUNTIME, "out of memory for compute %s", id);
  compute->style = style;
  compute->group = group;
  snprintf(compute->id, sizeof compute->id, "%s", id);
  const md_status status = style->parse(compute, sim, words);
  if (status != MD_OK) {
    free_compute(compute);
    return status;
  }
  compute->next = sim->host_computes;
  sim->host_computes = compute;
  return MD_OK;
}

md_host_compute *md_host_compute_find(const md_sim *sim, const char *id, size_t n)
{
  md_host_compute *compute = sim->host_computes;
  while (compute && (strlen(compute->id) != n || memcmp(compute->id, id, n) != 0)) compute = compute->next;
  return compute;
}

void md_host_compute_remove(md_sim *sim, md_host_compute *compute)
{
  md_host_compute **link = &sim->host_computes;
  while (*link != compute) link = &(*link)->next;
  *link = compute->next;
  free_compute(compute);
}

md_host_compute *md_host_compute_each(const md_sim *sim, const char *name, int *column)
{
  md_host_compute *compute = NULL;
  if (strncmp(name, "c_", 2) == 0) compute = md_host_compute_find(sim, name + 2, strcspn(name + 2, "["));
  if (!compute || compute->columns == 0) return NULL;
  *column = 0;
  if (!strchr(name, '[')) return compute->vector ? NULL : compute;
  if (!compute->vector || !strchr(name, ']') || strchr(name, '*')) return NULL;
  const long k = strtol(strchr(name, '[') + 1, NULL, 10);
  if (k < 1 || k > compute->columns) return NULL;
  *column = (int)k - 1;
  return compute;
}

/* Makes room for the values of the particles. */
static md_status make_each(md_host_compute *compute, const md_sim *sim)
{
  free(compute->each);
  return md_array_new_zero(&compute->each, sim->particles.n * compute->columns + 1, sizeof *compute->each,
                           "the values of particles");
}

/* Finds the values of the particles as they are between runs. */
static md_status find_between(md_sim *sim, md_host_compute *compute)
{
  md_view view = {.sim = sim, .step = sim->model.step};
  MD_TRY(md_comm_agree(sim->comm, make_each(compute, sim)));
  return compute->style->find(compute, &view);
}

const md_environment *md_host_compute_environment(md_host_compute *compute, const md_sim *sim)
{
  if (!compute->style->environment || md_dynamic_group_is(sim, compute->group)) return NULL;
  return compute->style->environment(compute, sim);
}

/* Asks the engine for the values of the particles, which have come from it. */
static md_status find_environment(md_sim *sim, md_host_compute *compute, bool *found)
{
  const md_view *view = sim->view;
  const bool can = view->engine && view->kind->environment;
  const md_environment *environment = can ? md_host_compute_environment(compute, sim) : NULL;
  if (!environment) return MD_OK;
  return md_comm_agree(sim->comm, view->kind->environment(view->engine, environment, compute->each, found));
}

/* The engine's values, or else those that are found of its particles. */
static md_status find_now(md_sim *sim, md_host_compute *compute)
{
  bool found = false;
  if (sim->view->engine && compute->style->find_in_place)
    MD_TRY(compute->style->find_in_place(compute, sim->view, &found));
  if (found) return MD_OK;
  MD_TRY(md_view_particles(sim->view));
  if (compute->columns > 0) MD_TRY(md_comm_agree(sim->comm, make_each(compute, sim)));
  if (compute->columns > 0) MD_TRY(find_environment(sim, compute, &found));
  if (found) return MD_OK;
  return compute->style->find(compute, sim->view);
}

md_status md_host_compute_update(md_sim *sim, md_host_compute *compute)
{
  if (compute->fresh && sim->view) return MD_OK;
  if (!sim->view && compute->known && compute->columns == 0) return MD_OK;
  if (!sim->view && compute->style->between) return find_between(sim, compute);
  if (!sim->view)
    return md_error(MD_USAGE, "c_%s is only known at an output of a run%s", compute->id,
                    compute->columns > 0 ? "" : ", and after a run whose last output shows it");
  const md_status status = find_now(sim, compute);
  if (status != MD_OK) md_error_prefix("compute %s: ", compute->id);
  compute->fresh = compute->known = status == MD_OK;
  return status;
}

void md_host_computes_show(md_sim *sim)
{
  for (md_host_compute *c = sim->host_computes; c; c = c->next) c->fresh = c->known = false;
}

void md_host_computes_end(md_sim *sim)
{
  for (md_host_compute *c = sim->host_computes; c; c = c->next) {
    free(c->each);
    c->each = NULL;
    c->fresh = false;
  }
}

void md_host_computes_free(md_sim *sim)
{
  while (sim->host_computes) md_host_compute_remove(sim, sim->host_computes);
}
