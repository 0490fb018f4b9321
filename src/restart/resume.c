/* Choosing a restart, and executing a deck up to the place where the restart was written; see resume.h. */
#include "src/restart/resume.h"
#include "common/ranks/reductions.h"
#include "src/averages/output_fix.h"
#include "src/box/faces.h"
#include "src/deck/deck.h"
#include "src/deck/search.h"
#include "src/particles/extent.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- files that may be restarts of this deck ---- */

typedef struct candidate {
  char *path;
  int64_t run,
      done; /* how far the file is in the deck: its run, and the steps of that; run -1: it is not usable */
} candidate;

typedef struct candidates {
  int64_t n, capacity;
  candidate *list;
} candidates;

static void free_candidates(candidates *all)
{
  for (int64_t k = 0; k < all->n; ++k) free(all->list[k].path);
  free(all->list);
}

static md_status add(candidates *all, const char *folder, const char *name)
{
  if (all->n == all->capacity) {
    const int64_t capacity = all->capacity ? 2 * all->capacity : 16;
    candidate *larger = realloc(all->list, (size_t)capacity * sizeof *larger);
    if (!larger) return md_error(MD_RUNTIME, "out of memory for the names of restarts");
    all->list = larger;
    all->capacity = capacity;
  }
  const size_t size = strlen(folder) + strlen(name) + 1;
  char *path = malloc(size);
  if (!path) return md_error(MD_RUNTIME, "out of memory for the names of restarts");
  snprintf(path, size, "%s%s", folder, name);
  for (int64_t k = 0; k < all->n; ++k)
    if (strcmp(all->list[k].path, path) == 0) {
      free(path);
      return MD_OK;
    }
  all->list[all->n++] = (candidate){.path = path};
  return MD_OK;
}

/* Whether `name` is the first n characters of `before`, then digits, then `behind`. */
static bool is_numbered(const char *name, const char *before, size_t n, const char *behind)
{
  if (strncmp(name, before, n) != 0) return false;
  const size_t digits = strspn(name + n, "0123456789");
  return digits > 0 && strcmp(name + n + digits, behind) == 0;
}

/* Adds the files of a name; a * in the name stands for a step. */
static md_status add_files(candidates *all, const char *pattern)
{
  struct stat about;
  const char *star = strchr(pattern, '*');
  if (!star) return stat(pattern, &about) == 0 ? add(all, "", pattern) : MD_OK;
  const char *slash = strrchr(pattern, '/');
  /* With a * in the name of a folder, the files cannot be found by listing one folder. */
  if (slash && slash > star) return MD_OK;
  char folder[1024] = "";
  if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash + 1 - pattern), pattern);
  const char *name = slash ? slash + 1 : pattern;
  DIR *directory = opendir(*folder ? folder : ".");
  md_status status = MD_OK;
  for (struct dirent *entry; directory && status == MD_OK && (entry = readdir(directory));)
    if (is_numbered(entry->d_name, name, (size_t)(star - name), star + 1))
      status = add(all, folder, entry->d_name);
  if (directory) closedir(directory);
  return status;
}

/* ---- the choice of a good one ---- */

/* Checks that the files that dumps will continue are at least as long as they were. */
static md_status check_outputs(const char *path, const md_restart *r)
{
  for (int64_t k = 0; k < r->noutput; ++k) {
    const md_output_mark *mark = &r->output[k];
    struct stat about;
    if (mark->bytes < 0) continue;
    const long long size = stat(mark->file, &about) == 0 ? (long long)about.st_size : -1;
    if (size < 0)
      return md_error(MD_RUNTIME,
                      "%.500s cannot be gone on from: the file %.500s of dump %s is not there any more", path,
                      mark->file, mark->id);
    if (size < mark->bytes)
      return md_error(
          MD_RUNTIME,
          "%.500s cannot be gone on from: the file %.500s of dump %s has %lld bytes, but had %lld then", path,
          mark->file, mark->id, size, (long long)mark->bytes);
  }
  return MD_OK;
}

static md_status check_deck(const char *path, const md_restart *r, const md_search *search)
{
  const int64_t k = r->history.nrun - 1;
  if (!r->under_way || k < 0)
    return md_error(MD_RUNTIME, "%.500s was not written by a run, but by write_restart: use read_restart",
                    path);
  const bool beyond = k >= search->nrun;
  if (beyond ? !search->open : search->known[k] && search->deck[k] != r->history.run[k].deck)
    return md_error(MD_RUNTIME, "%.500s is of another deck, or this one was changed since", path);
  return MD_OK;
}

static md_status look_at(const char *path, const md_search *search, candidate *c)
{
  md_h5_file *file = NULL;
  md_restart r;
  md_status status = md_restart_open(path, &file, &r);
  if (status == MD_OK) status = check_deck(path, &r, search);
  if (status == MD_OK) status = check_outputs(path, &r);
  c->run = status == MD_OK ? r.history.nrun : -1;
  c->done = status == MD_OK ? llabs(r.model.step - r.history.run[r.history.nrun - 1].first) : -1;
  status = md_h5_close_after(&file, status);
  md_restart_free(&r);
  return status;
}

/* Opens a candidate again and verifies every particle. */
static md_status verify(md_comm *comm, const char *path, md_resume *resume)
{
  md_h5_file *file = NULL;
  md_status status = md_comm_agree(comm, md_restart_open(path, &file, &resume->restart));
  if (status == MD_OK) status = md_restart_particles(comm, file, path, &resume->restart, NULL);
  status = md_h5_close_after(&file, status);
  if (status != MD_OK) md_restart_free(&resume->restart);
  snprintf(resume->path, sizeof resume->path, "%s", path);
  return md_comm_agree(comm, status);
}

static int further_first(const void *a, const void *b)
{
  const candidate *left = a, *right = b;
  if (left->run != right->run) return left->run < right->run ? 1 : -1;
  if (left->done != right->done) return left->done < right->done ? 1 : -1;
  return strcmp(left->path, right->path);
}

static md_status choose(md_sim *sim, candidates *all, const md_search *search, md_resume *resume, bool *found)
{
  md_comm *comm = sim->comm;
  char reason[1024] = "";
  if (all->n > 1) qsort(all->list, (size_t)all->n, sizeof *all->list, further_first);
  for (int64_t k = 0; k < all->n; ++k) {
    candidate *c = &all->list[k];
    MD_TRY(md_deck_check_same(sim, c->path));
    const md_status status = md_comm_agree(comm, look_at(c->path, search, c));
    if (status == MD_OK) continue;
    c->run = -1;
    if (!reason[0]) snprintf(reason, sizeof reason, "%s", md_error_text());
    md_log_print(sim->log, "Note: --resume: %s\n", md_error_text());
  }
  if (all->n > 1) qsort(all->list, (size_t)all->n, sizeof *all->list, further_first);
  for (int64_t k = 0; k < all->n && !*found; ++k) {
    if (all->list[k].run < 0) continue;
    *found = verify(comm, all->list[k].path, resume) == MD_OK;
    if (*found) continue;
    if (!reason[0]) snprintf(reason, sizeof reason, "%s", md_error_text());
    md_log_print(sim->log, "Note: --resume: %s\n", md_error_text());
  }
  if (*found || all->n == 0) return MD_OK;
  return md_error(
      MD_RUNTIME,
      "--resume: no restart of this deck is good: %s; to begin at the beginning, start without --resume",
      reason);
}

md_status md_resume_find(md_sim *sim, md_sim *probe, FILE *deck, const char *deck_name, md_resume *resume,
                         bool *found)
{
  md_search search = {0};
  candidates all = {0};
  *found = false;
  md_status status = md_deck_search(probe, deck, deck_name, &search);
  if (status == MD_OK) {
    for (int64_t k = 0; k < search.nname && status == MD_OK; ++k) status = add_files(&all, search.name[k]);
    if (status == MD_OK) status = add_files(&all, sim->restarts.stop);
    status = md_comm_agree(sim->comm, status);
  }
  if (status == MD_OK) status = choose(sim, &all, &search, resume, found);
  free_candidates(&all);
  md_search_free(&search);
  if (status != MD_OK) return status;
  if (*found)
    md_log_print(sim->log, "Resuming from %s, step %lld of run %lld\n", resume->path,
                 (long long)resume->restart.model.step, (long long)resume->restart.history.nrun);
  else
    md_log_print(sim->log, "Note: --resume: there is no restart yet; the deck begins at its beginning\n");
  return MD_OK;
}

/* ---- executing the deck ---- */

static md_status note_run(md_history *history, int64_t first, int64_t last)
{
  md_run_record *larger = realloc(history->run, (size_t)(history->nrun + 1) * sizeof *larger);
  if (!larger) return md_error(MD_RUNTIME, "out of memory for the runs of a deck");
  history->run = larger;
  history->run[history->nrun++] = (md_run_record){.deck = history->deck, .first = first, .last = last};
  return MD_OK;
}

static md_status changed(const md_sim *sim, const char *what)
{
  return md_error(
      MD_USAGE,
      "--resume: %.500s was written by another deck than this one: %s. Go on with the deck as it was, or "
      "start it without --resume",
      sim->resume->path, what);
}

/* Records the checksum of the particles at the first run. It is the same on all ranks, because it comes from sums
 * over ranks. */
static md_status note_beginning(md_sim *sim)
{
  uint64_t checksum[MD_RESTART_FIELDS];
  MD_TRY(md_restart_checksums(sim->comm, &sim->particles, checksum));
  sim->history.beginning = 0;
  for (int f = 0; f < MD_RESTART_FIELDS; ++f)
    sim->history.beginning = 31 * sim->history.beginning + checksum[f];
  if (!sim->resume || sim->history.beginning == sim->resume->restart.history.beginning) return MD_OK;
  return changed(sim, "the particles that it makes are different");
}

static md_status load_particles(md_sim *sim, md_resume *resume)
{
  md_h5_file *file = NULL;
  md_restart again;
  md_comm *comm = sim->comm;
  sim->particles.n = sim->particles.nghost = 0;
  md_status status = md_comm_agree(comm, md_restart_open(resume->path, &file, &again));
  if (status == MD_OK)
    status = md_restart_particles(comm, file, resume->path, &resume->restart, &sim->particles);
  if (status == MD_OK) status = md_id_columns_take(sim, resume->restart.ncolumn, resume->restart.column);
  status = md_h5_close_after(&file, status);
  md_restart_free(&again);
  return md_comm_agree(comm, status);
}

static bool can_halt(const md_sim *sim)
{
  for (const md_observer *o = sim->observers; o && md_is_output_fix(o); o = o->next)
    if (((const md_output_fix *)o)->style == &md_fix_halt_style) return true;
  return false;
}

md_status md_resume_begin(md_sim *sim, int64_t first, int64_t last, bool *passed)
{
  md_history *history = &sim->history;
  *passed = false;
  MD_TRY(md_comm_agree(sim->comm, note_run(history, first, last)));
  if (history->nrun == 1) MD_TRY(note_beginning(sim));
  if (!sim->resume) return MD_OK;
  const md_restart *r = &sim->resume->restart;
  const int64_t k = history->nrun - 1;
  md_run_record *now = &history->run[k];
  const md_run_record *then = &r->history.run[k];
  if (now->deck != then->deck) return changed(sim, "a command before this run has changed");
  /* A run before the interrupted one may have been halted. */
  const bool halted = k < r->history.nrun - 1 && can_halt(sim) &&
                      llabs(then->last - first) < llabs(last - first) &&
                      (then->last == first || (then->last > first) == (last > first));
  if (first != then->first || (last >= 0 && last != then->last && !halted))
    return changed(sim, "this run had other steps");
  if (k == r->history.nrun - 1) {
    /* Commands between runs that edit particles were skipped, or edited those of the deck's beginning. */
    MD_TRY(load_particles(sim, sim->resume));
    MD_TRY(md_sim_count(sim));
    /* The bodies are not where they were when the extent was found. */
    if (md_box_has_room(&sim->model.box) || md_box_is_changed(&sim->model.box)) sim->model.box = r->model.box;
    sim->model.extent = r->model.extent;
    sim->model.extent_natoms = sim->model.natoms;
    return MD_OK;
  }
  *passed = true;
  /* The run rounded the box, which commands behind it may read or change. */
  MD_TRY(md_extent_find(sim));
  MD_TRY(md_model_prepare(&sim->model));
  md_faces_take(&sim->model.box, then->box);
  md_faces_put(&sim->model.box, now->box);
  last = now->last = then->last;
  now->computed = sim->computed = then->computed;
  sim->has_computed = true;
  sim->model.run_begin = first;
  sim->model.run_end = sim->model.step = last;
  md_log_print(sim->log, "Steps %lld to %lld were run before\n", (long long)first, (long long)last);
  return MD_OK;
}

static md_status recall_measured(const md_sim *sim, double *value)
{
  const md_history *then = &sim->resume->restart.history;
  if (sim->history.nmeasured >= then->nmeasured)
    return changed(sim, "it measures a group or a fix at another place");
  *value = then->measured[sim->history.nmeasured];
  return MD_OK;
}

md_status md_resume_measure(md_sim *sim, md_status (*measure)(void *context, double *value), void *context,
                            double *value)
{
  const bool recorded = !sim->view && sim->history.nrun > 0;
  MD_TRY(recorded && sim->resume ? recall_measured(sim, value) : measure(context, value));
  return recorded ? md_comm_agree(sim->comm, md_history_measured(&sim->history, *value)) : MD_OK;
}

static md_status resume_observers(md_sim *sim, const md_restart *r)
{
  for (md_observer *o = sim->observers; o; o = o->next)
    for (int64_t k = 0; k < r->noutput; ++k)
      if (o->resume && strcmp(o->id, r->output[k].id) == 0) MD_TRY(o->resume(o, sim, &r->output[k]));
  return MD_OK;
}

md_status md_resume_load(md_sim *sim)
{
  md_resume *resume = sim->resume;
  const md_restart *r = &resume->restart;
  md_model *model = &sim->model;
  if (md_restart_model_hash(model) != md_restart_model_hash(&r->model))
    return changed(sim, "its box, masses, interaction, fixes or timestep are different");
  MD_TRY(resume_observers(sim, r));
  for (int f = 0; f < model->nfix; ++f)
    memcpy(model->fix[f].state, r->model.fix[f].state, sizeof model->fix[f].state);
  MD_TRY(md_fixes_take_state(model));
  model->move = r->model.move;
  model->step = r->model.step;
  model->run_begin = r->model.run_begin;
  model->run_end = r->model.run_end;
  sim->has_first_energy = r->has_energy;
  sim->first_energy = r->first_energy;
  md_restarts *restarts = &sim->restarts;
  restarts->last_step = model->step;
  snprintf(restarts->last, sizeof restarts->last, "%s", resume->path);
  if (restarts->name[1] && strcmp(restarts->name[0], resume->path) == 0) restarts->next = 1;
  sim->resume = NULL;
  md_log_print(sim->log, "Resumed at step %lld\n", (long long)model->step);
  return MD_OK;
}
