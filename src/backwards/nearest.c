/* The restart from which a step is reached at the least cost; see nearest.h. */
#include "src/backwards/nearest.h"
#include "common/fix/fix.h"
#include "common/ranks/reductions.h"
#include "src/averages/output_fix.h"
#include "src/backwards/check_back.h"
#include "src/box/faces.h"
#include "src/deck/deck.h"
#include "src/particles/extent.h"
#include "src/restart/items.h"
#include "src/restart/particles.h"

#include <stdlib.h>
#include <string.h>

enum { READING_HOST = 10, READING_GPU = 200 };

int64_t md_nearest_reading(const md_sim *sim)
{
  return strcmp(sim->engine->name, "gpu") == 0 ? READING_GPU : READING_HOST;
}

bool md_nearest_is_reversible(const md_sim *sim, const md_restart *r)
{
  for (int f = 0; f < r->model.nfix; ++f)
    if (!md_fix_is_reversible(&r->model.fix[f])) return false;
  return !r->model.float_drift && !(sim->options.gpu.mixed && strcmp(sim->engine->name, "gpu") == 0);
}

/* The cost from a file to the step; INT64_MAX: no way leads there. */
static int64_t cost_of(const md_sim *sim, const md_restart *r, int64_t to)
{
  const int64_t away = llabs(to - r->model.step);
  if (to < r->model.step && md_output_fixes_keep_step(sim)) return INT64_MAX;
  if (away > 0 && !md_resume_holds(r, to) && !md_nearest_is_reversible(sim, r)) return INT64_MAX;
  return away < INT64_MAX - READING_GPU ? away + md_nearest_reading(sim) : INT64_MAX;
}

/* Were the particles changed by steps alone since the run `from` began, and was the model the same? */
static bool is_one_course(const md_history *h, int64_t from)
{
  for (int64_t k = from; k < h->nrun; ++k)
    if (h->run[k].edits != h->run[from].edits || h->run[k].model != h->run[from].model) return false;
  return h->nrun == 0 || h->edits == h->run[from].edits;
}

static md_status other(const char *path, const char *what)
{
  return md_error(MD_USAGE, "restart %.500s is of another course: %s", path, what);
}

/* Do the fixes of both models act on groups of the same names? */
static bool are_same_groups(const md_model *a, const md_model *b)
{
  for (int f = 0; f < b->nfix; ++f) {
    const int g = b->fix[f].group;
    if (g >= a->groups.n || strcmp(a->groups.name[g], b->groups.name[g]) != 0) return false;
  }
  return a->groups.n > 1 || b->groups.n == 1;
}

static bool is_same_model(const md_sim *sim, const md_restart *r)
{
  md_model copy = sim->model;
  /* Fixes move the box from step to step. */
  if (md_box_has_room(&copy.box) || md_box_is_changed(&copy.box)) copy.box = r->model.box;
  if (!r->under_way) {
    /* A file that was written between two runs has no grids. */
    copy.grids = r->model.grids;
    copy.mass_reference = r->model.mass_reference;
    copy.wide = r->model.wide;
    memcpy(copy.velocity_per_v, r->model.velocity_per_v, sizeof copy.velocity_per_v);
    memcpy(copy.v_step, r->model.v_step, sizeof copy.v_step);
  }
  return md_restart_course_hash(&copy) == md_restart_course_hash(&r->model);
}

/* The number of runs, from the first one on, that both decks have. */
static int64_t shared_runs(const md_history *here, const md_history *there)
{
  int64_t n = 0;
  while (n < here->nrun && n < there->nrun && here->run[n].deck == there->run[n].deck &&
         here->run[n].first == there->run[n].first)
    ++n;
  return n;
}

/* beginning: the checksum of the particles when the present deck's first run began, or would begin. */
static md_status check_course(const md_sim *sim, const char *path, const md_restart *r, uint64_t beginning)
{
  const md_history *here = &sim->history, *there = &r->history;
  if (there->nrun < 1 || there->beginning != beginning)
    return other(path, "its first run began with other particles");
  const int64_t shared = shared_runs(here, there);
  const int64_t from = shared > 0 ? shared - 1 : 0;
  if (!is_same_model(sim, r))
    return other(path, "its box, masses, interaction, fixes or timestep are different");
  if (!are_same_groups(&sim->model, &r->model)) return other(path, "it has other groups");
  if (!is_one_course(here, from) || !is_one_course(there, from))
    return other(path, "a command has changed particles or fixes between it and the present step");
  return MD_OK;
}

/* Are the sums of averages in the file, of the same fixes? Its deck up to its run must be the present one. */
static md_status check_sums(const md_sim *sim, const char *path, const md_restart *r)
{
  const int64_t nrun = r->history.nrun;
  if (!md_output_fixes_keep_step(sim)) return MD_OK;
  md_status status = md_output_fixes_check_jump(sim, nrun, r->output, r->noutput);
  if (status == MD_OK && shared_runs(&sim->history, &r->history) < nrun)
    status = md_error(MD_USAGE, "it was written by another deck, whose fixes may have other sums");
  if (status != MD_OK) md_error_prefix("restart %.500s: ", path);
  return status;
}

/* Reads the header of a candidate. */
static md_status look_at(const md_sim *sim, md_candidate *c, int64_t to, uint64_t beginning)
{
  md_h5_file *file = NULL;
  md_restart r;
  md_status status = md_restart_open(c->path, &file, &r);
  c->cost = status == MD_OK ? cost_of(sim, &r, to) : INT64_MAX;
  if (status == MD_OK) status = check_course(sim, c->path, &r, beginning);
  if (status == MD_OK) status = check_sums(sim, c->path, &r);
  status = md_h5_close_after(&file, status);
  md_restart_free(&r);
  return status;
}

static md_status find_files(const md_sim *sim, const md_words *named, md_candidates *all)
{
  for (int k = 0; k < named->n; ++k) {
    const int64_t before = all->n;
    MD_TRY(md_candidates_add(all, named->word[k]));
    if (all->n == before) return md_error(MD_RUNTIME, "seek: there is no restart '%.500s'", named->word[k]);
  }
  for (int64_t k = 0; k < all->n; ++k) all->list[k].named = true;
  for (int k = 0; k < 2; ++k)
    if (sim->restarts.name[k]) MD_TRY(md_candidates_add(all, sim->restarts.name[k]));
  return MD_OK;
}

static int cheapest_first(const void *a, const void *b)
{
  const md_candidate *left = a, *right = b;
  if (left->cost != right->cost) return left->cost < right->cost ? -1 : 1;
  return strcmp(left->path, right->path);
}

static int by_path(const void *a, const void *b)
{
  return strcmp(((const md_candidate *)a)->path, ((const md_candidate *)b)->path);
}

/* Finds the costs of all candidates. A restart that is no good is an error if the deck names it. Otherwise it is left
 * out, with a note if it were nearer. */
static md_status look_at_all(md_sim *sim, md_candidates *all, const md_nearest *nearest, uint64_t beginning)
{
  if (all->n > 1) qsort(all->list, (size_t)all->n, sizeof *all->list, by_path);
  for (int64_t k = 0; k < all->n; ++k) {
    md_candidate *c = &all->list[k];
    MD_TRY(md_deck_check_same(sim, c->path));
    const md_status status = md_comm_agree(sim->comm, look_at(sim, c, nearest->to, beginning));
    if (status == MD_OK) continue;
    if (c->named) return status;
    if (c->cost < nearest->direct) md_log_print(sim->log, "Note: seek: %s\n", md_error_text());
    c->cost = INT64_MAX;
  }
  if (all->n > 1) qsort(all->list, (size_t)all->n, sizeof *all->list, cheapest_first);
  return MD_OK;
}

/* Takes the cheapest candidate whose particles are good. */
static md_status choose(md_sim *sim, const md_candidates *all, md_nearest *nearest)
{
  for (int64_t k = 0; k < all->n && all->list[k].cost < nearest->direct && !nearest->found; ++k) {
    const md_status status = md_resume_open(sim->comm, all->list[k].path, &nearest->resume);
    if (status != MD_OK && all->list[k].named) return status;
    nearest->found = status == MD_OK;
    if (status != MD_OK) md_log_print(sim->log, "Note: seek: %s\n", md_error_text());
  }
  return MD_OK;
}

/* The checksum of the particles of the first run, or of the present ones, which it would have. */
static md_status find_beginning(const md_sim *sim, uint64_t *beginning)
{
  *beginning = sim->history.beginning;
  return sim->history.nrun > 0 ? MD_OK : md_restart_beginning(sim->comm, &sim->particles, beginning);
}

/* The model, as a run that begins now would have it. */
static md_status prepare(md_sim *sim)
{
  MD_TRY(md_sim_count(sim));
  MD_TRY(md_faces_follow(sim));
  MD_TRY(md_extent_find(sim));
  return md_comm_agree(sim->comm, md_model_prepare(&sim->model));
}

/* Can the state be that of a restart at once? If not, restarts are left out with a note, unless the deck names one. */
static md_status check_outputs(const md_sim *sim, const md_nearest *nearest, bool *possible)
{
  const md_status status = md_check_jump(sim, "seek from a restart");
  *possible = status == MD_OK;
  if (*possible || nearest->named.n > 0) return status;
  md_log_print(sim->log, "Note: restarts are not looked at: %s\n", md_error_text());
  return MD_OK;
}

md_status md_nearest_find(md_sim *sim, md_nearest *nearest)
{
  md_candidates all = {0};
  uint64_t beginning;
  bool possible;
  nearest->found = false;
  if (!sim->restarts.name[0] && nearest->named.n == 0) return MD_OK;
  MD_TRY(check_outputs(sim, nearest, &possible));
  if (!possible) return MD_OK;
  MD_TRY(prepare(sim));
  MD_TRY(find_beginning(sim, &beginning));
  md_status status = md_comm_agree(sim->comm, find_files(sim, &nearest->named, &all));
  if (status == MD_OK) status = look_at_all(sim, &all, nearest, beginning);
  if (status == MD_OK) status = choose(sim, &all, nearest);
  md_candidates_free(&all);
  return status;
}
