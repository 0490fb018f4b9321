/* Choosing a restart, and executing a deck up to the place where the restart was written; see resume.h. */
#include "src/restart/resume.h"
#include "common/kick_range.h"
#include "common/ranks/reductions.h"
#include "src/averages/output_fix.h"
#include "src/backwards/frame.h"
#include "src/box/faces.h"
#include "src/deck/deck.h"
#include "src/deck/search.h"
#include "src/files/printed_files.h"
#include "src/follow/images.h"
#include "src/particles/extent.h"
#include "src/region/users.h"
#include "src/restart/candidates.h"
#include "src/restart/items.h"
#include "src/restart/particles.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the choice of a good one ---- */

/* Checks that the files that dumps will continue are at least as long as they were. */
static md_status check_outputs(const char *path, const md_restart *r)
{
  for (int64_t k = 0; k < r->noutput; ++k) {
    const md_output_mark *mark = &r->output[k];
    struct stat about;
    if (mark->bytes < 0 || strcmp(mark->id, MD_PRINTED_ID) == 0) continue;
    const long long size = stat(mark->file, &about) == 0 ? (long long)about.st_size : -1;
    if (size < 0)
      return md_error(MD_RUNTIME,
                      "the run cannot go on from %.500s: the file %.500s of dump %s does not exist any more",
                      path, mark->file, mark->id);
    if (size < mark->bytes)
      return md_error(MD_RUNTIME,
                      "the run cannot go on from %.500s: the file %.500s of dump %s has %lld bytes, and it "
                      "had %lld when the restart was written",
                      path, mark->file, mark->id, size, (long long)mark->bytes);
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
    return md_error(MD_RUNTIME, "%.500s was written by another deck, or the deck has changed since", path);
  return MD_OK;
}

static md_status look_at(const md_sim *sim, const char *path, const md_search *search, md_candidate *c)
{
  md_h5_file *file = NULL;
  md_restart r;
  md_status status = md_restart_open(path, &file, &r);
  if (status == MD_OK) status = check_deck(path, &r, search);
  if (status == MD_OK && !sim->frame) status = check_outputs(path, &r);
  c->cost = status == MD_OK && sim->frame ? md_frame_cost(sim, &r) : 0;
  c->run = status == MD_OK ? r.history.nrun : -1;
  c->done = status == MD_OK ? llabs(r.model.step - r.history.run[r.history.nrun - 1].first) : -1;
  status = md_h5_close_after(&file, status);
  md_restart_free(&r);
  return status;
}

md_status md_resume_open(md_comm *comm, const char *path, md_resume *resume)
{
  md_h5_file *file = NULL;
  md_status status = md_comm_agree(comm, md_restart_open(path, &file, &resume->restart));
  if (status == MD_OK) status = md_restart_particles(comm, file, path, &resume->restart, NULL);
  status = md_h5_close_after(&file, status);
  if (status != MD_OK) md_restart_free(&resume->restart);
  snprintf(resume->path, sizeof resume->path, "%s", path);
  return md_comm_agree(comm, status);
}

/* For a frame, the nearest one comes first. */
static int further_first(const void *a, const void *b)
{
  const md_candidate *left = a, *right = b;
  if (left->cost != right->cost) return left->cost < right->cost ? -1 : 1;
  if (left->run != right->run) return left->run < right->run ? 1 : -1;
  if (left->done != right->done) return left->done < right->done ? 1 : -1;
  return strcmp(left->path, right->path);
}

static md_status choose(md_sim *sim, md_candidates *all, const md_search *search, md_resume *resume,
                        bool *found)
{
  md_comm *comm = sim->comm;
  char reason[1024] = "";
  if (all->n > 1) qsort(all->list, (size_t)all->n, sizeof *all->list, further_first);
  for (int64_t k = 0; k < all->n; ++k) {
    md_candidate *c = &all->list[k];
    MD_TRY(md_deck_check_same(sim, c->path));
    const md_status status = md_comm_agree(comm, look_at(sim, c->path, search, c));
    if (status == MD_OK) continue;
    c->run = -1;
    if (!reason[0]) snprintf(reason, sizeof reason, "%s", md_error_text());
    md_log_print(sim->log, "Note: --resume: %s\n", md_error_text());
  }
  if (all->n > 1) qsort(all->list, (size_t)all->n, sizeof *all->list, further_first);
  for (int64_t k = 0; k < all->n && !*found; ++k) {
    if (all->list[k].run < 0 || all->list[k].cost == INT64_MAX) continue;
    *found = md_resume_open(comm, all->list[k].path, resume) == MD_OK;
    if (*found) continue;
    if (!reason[0]) snprintf(reason, sizeof reason, "%s", md_error_text());
    md_log_print(sim->log, "Note: --resume: %s\n", md_error_text());
  }
  if (*found || all->n == 0 || sim->frame) return MD_OK;
  return md_error(
      MD_RUNTIME,
      "--resume: no restart of this deck is good: %s; to begin at the beginning, start without --resume",
      reason);
}

md_status md_resume_find(md_sim *sim, md_sim *probe, FILE *deck, const char *deck_name, md_resume *resume,
                         bool *found)
{
  md_search search = {0};
  md_candidates all = {0};
  *found = false;
  md_status status = md_deck_search(probe, deck, deck_name, &search);
  if (status == MD_OK) {
    for (int64_t k = 0; k < search.nname && status == MD_OK; ++k)
      status = md_candidates_add(&all, search.name[k]);
    if (status == MD_OK) status = md_candidates_add(&all, sim->restarts.stop);
    status = md_comm_agree(sim->comm, status);
  }
  if (status == MD_OK) status = choose(sim, &all, &search, resume, found);
  md_candidates_free(&all);
  md_search_free(&search);
  if (status != MD_OK) return status;
  if (sim->frame) return MD_OK;
  if (*found)
    md_log_print(sim->log, "Resuming from %s, step %lld of run %lld\n", resume->path,
                 (long long)resume->restart.model.step, (long long)resume->restart.history.nrun);
  else
    md_log_print(sim->log, "Note: --resume: there is no restart yet; the deck begins at its beginning\n");
  return MD_OK;
}

/* ---- executing the deck ---- */

bool md_resume_holds(const md_restart *r, int64_t step)
{
  if (!r->under_way) return false;
  const md_run_record *run = &r->history.run[r->history.nrun - 1];
  const int64_t at = r->model.step;
  return run->first <= run->last ? at <= step && step <= run->last : run->last <= step && step <= at;
}

static md_status note_run(md_sim *sim, int64_t first, int64_t last)
{
  md_history *history = &sim->history;
  md_run_record *larger = realloc(history->run, (size_t)(history->nrun + 1) * sizeof *larger);
  if (!larger) return md_error(MD_RUNTIME, "out of memory for the runs of a deck");
  history->run = larger;
  history->run[history->nrun++] = (md_run_record){.deck = history->deck,
                                                  .first = first,
                                                  .last = last < 0 ? first : last,
                                                  .edits = history->edits,
                                                  .drawn = md_variables_drawn(sim->variables)};
  /* A minimisation moves the particles. */
  if (last < 0) ++history->edits;
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
  MD_TRY(md_restart_beginning(sim->comm, &sim->particles, &sim->history.beginning));
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
  const md_restart *r = &resume->restart;
  if (status == MD_OK)
    status = sim->jumps ? md_images_jump(sim, r->ncolumn, r->column)
                        : md_id_columns_take(sim, r->ncolumn, r->column);
  if (status == MD_OK && sim->frame) status = md_images_restore(sim);
  status = md_h5_close_after(&file, status);
  md_restart_free(&again);
  return md_comm_agree(comm, status);
}

/* Gives each particle the groups that `groups` has for its id. */
static md_status put_groups(md_sim *sim, const md_id_values *groups)
{
  md_particles *p = &sim->particles;
  double *bits = NULL;
  md_status status = md_comm_agree(sim->comm, md_array_new(&bits, p->n + 1, sizeof *bits, "groups"));
  if (status == MD_OK) status = md_comm_agree(sim->comm, md_particles_make_groups(p));
  if (status == MD_OK) status = md_id_values_get(groups, bits);
  for (int64_t i = 0; status == MD_OK && i < p->n; ++i) p->group[i] = (uint32_t)bits[i];
  free(bits);
  return status;
}

/* Notes the groups of each particle by its id. */
static md_status note_groups(md_sim *sim, md_id_values **groups)
{
  const md_particles *p = &sim->particles;
  double *bits = NULL;
  md_status status = md_comm_agree(sim->comm, md_array_new(&bits, p->n + 1, sizeof *bits, "groups"));
  for (int64_t i = 0; status == MD_OK && i < p->n; ++i) bits[i] = p->group[i];
  if (status == MD_OK) status = md_comm_agree(sim->comm, md_id_values_new(sim, "seek", "groups", 1, groups));
  if (status == MD_OK) status = md_id_values_set(*groups, NULL, bits);
  free(bits);
  return status;
}

/* The particles of the restart of a jump, with the groups of the present ones: groups may have come since. */
static md_status jump(md_sim *sim)
{
  md_id_values *groups = NULL;
  const bool grouped = sim->particles.grouped;
  sim->broken = true;
  md_status status = grouped ? note_groups(sim, &groups) : MD_OK;
  /* The file has the fields of its own model. */
  md_particles_free(&sim->particles);
  md_particles_init(&sim->particles, sim->model.box.dim);
  if (status == MD_OK) status = load_particles(sim, sim->resume);
  if (status == MD_OK && grouped) status = put_groups(sim, groups);
  md_id_values_free(groups);
  return status;
}

/* Takes the particles of the interrupted run, or of a jump. */
static md_status take_particles(md_sim *sim)
{
  const md_restart *r = &sim->resume->restart;
  /* Commands between runs that edit particles were skipped, or edited those of the deck's beginning. */
  MD_TRY(sim->jumps ? jump(sim) : load_particles(sim, sim->resume));
  MD_TRY(md_sim_count(sim));
  sim->nmissing = 0;
  /* The bodies are not where they were when the extent was found. */
  if (md_box_has_room(&sim->model.box) || md_box_is_changed(&sim->model.box)) sim->model.box = r->model.box;
  sim->model.extent = r->model.extent;
  sim->model.extent_natoms = sim->model.natoms;
  return MD_OK;
}

static bool can_halt(const md_sim *sim)
{
  for (const md_observer *o = sim->observers; o && md_is_output_fix(o); o = o->next)
    if (((const md_output_fix *)o)->style == &md_fix_halt_style) return true;
  return false;
}

/* The present place of the deck had `natoms` particles; -1: not known. */
static void miss(md_sim *sim, int64_t natoms)
{
  if (natoms >= 0) sim->nmissing = natoms - sim->model.natoms;
}

md_status md_resume_begin(md_sim *sim, int64_t first, int64_t last, bool *passed)
{
  md_history *history = &sim->history;
  *passed = false;
  MD_TRY(md_comm_agree(sim->comm, note_run(sim, first, last)));
  if (history->nrun == 1) MD_TRY(note_beginning(sim));
  if (!sim->resume) return MD_OK;
  if (sim->jumps) return take_particles(sim);
  const md_restart *r = &sim->resume->restart;
  const int64_t k = history->nrun - 1;
  md_run_record *now = &history->run[k];
  const md_run_record *then = &r->history.run[k];
  if (now->deck != then->deck) return changed(sim, "a command before this run has changed");
  const bool halted = can_halt(sim) && llabs(then->last - first) <= llabs(last - first) &&
                      (then->last == first || (then->last > first) == (last > first));
  if (first != then->first || (last >= 0 && last != then->last && !halted))
    return changed(sim, "this run had other steps");
  now->last = then->last;
  now->halted = then->halted;
  /* A file of an earlier program does not say it. */
  if (last >= 0 && last != then->last && !now->halted) now->halted = MD_HALT_RUN;
  sim->halted = (md_halted)now->halted;
  if (k == r->history.nrun - 1) return take_particles(sim);
  *passed = true;
  /* The run rounded the box, which commands after it may read or change. */
  MD_TRY(md_extent_find(sim));
  MD_TRY(md_regions_take(sim));
  MD_TRY(last < 0 ? md_kick_range_minimized(&sim->model) : md_model_prepare(&sim->model));
  md_faces_take(&sim->model.box, then->box);
  md_faces_put(&sim->model.box, now->box);
  if (r->has_draws) md_variables_set_drawn(sim->variables, now->drawn = then->drawn);
  last = then->last;
  now->computed = sim->computed = then->computed;
  now->model = then->model;
  now->natoms = then->natoms;
  miss(sim, then->natoms);
  sim->has_computed = true;
  sim->model.run_begin = sim->run_first = first;
  sim->model.run_end = sim->run_last = sim->model.step = last;
  md_log_print(sim->log, "Steps %lld to %lld were run before\n", (long long)first, (long long)last);
  return MD_OK;
}

static md_status recall_measured(const md_sim *sim, double *value)
{
  const md_history *then = &sim->resume->restart.history;
  if (sim->history.nmeasured >= then->nmeasured)
    return changed(sim, "it measures a group or a fix at another place");
  *value = then->measured[sim->history.nmeasured];
  if (then->measured_drawn)
    md_variables_set_drawn(sim->variables, then->measured_drawn[sim->history.nmeasured]);
  return MD_OK;
}

md_status md_resume_measure(md_sim *sim, md_status (*measure)(void *context, double *value), void *context,
                            double *value)
{
  const bool recorded = !sim->view && sim->history.nrun > 0;
  MD_TRY(recorded && sim->resume ? recall_measured(sim, value) : measure(context, value));
  if (!recorded) return MD_OK;
  const uint64_t drawn = md_variables_drawn(sim->variables);
  return md_comm_agree(sim->comm, md_history_measured(&sim->history, *value, drawn));
}

md_status md_resume_note(md_sim *sim, const md_left_out *before, const md_words *words)
{
  const md_left_out now = {.command = md_history_hash(0, words),
                           .nrun = sim->history.nrun,
                           .nmeasured = sim->history.nmeasured,
                           .drawn = md_variables_drawn(sim->variables),
                           .natoms = sim->model.natoms};
  if (now.nmeasured == before->nmeasured && now.drawn == before->drawn && now.natoms == before->natoms)
    return MD_OK;
  return md_comm_agree(sim->comm, md_history_left_out(&sim->history, &now));
}

/* Takes over what was measured from the present place to the one after a command. */
static md_status take_measured(md_history *history, const md_history *then, int64_t to)
{
  md_status status = MD_OK;
  for (int64_t k = history->nmeasured; k < to && status == MD_OK; ++k)
    status = md_history_measured(history, then->measured[k], then->measured_drawn[k]);
  return status;
}

md_status md_resume_leave_out(md_sim *sim, const md_words *words)
{
  md_history *history = &sim->history;
  const md_history *then = &sim->resume->restart.history;
  const uint64_t command = md_history_hash(0, words);
  /* A deck that asks for more output may have commands that were not there then. */
  int64_t k = sim->resume->nleft;
  while (k < then->nleft && (then->left[k].nrun < history->nrun ||
                             (then->left[k].nrun == history->nrun && then->left[k].command != command)))
    ++k;
  if (k == then->nleft || then->left[k].nrun != history->nrun) return MD_OK;
  sim->resume->nleft = k + 1;
  md_variables_set_drawn(sim->variables, then->left[k].drawn);
  miss(sim, then->left[k].natoms);
  md_status status = take_measured(history, then, then->left[k].nmeasured);
  if (status == MD_OK) status = md_history_left_out(history, &then->left[k]);
  return md_comm_agree(sim->comm, status);
}

static md_status resume_observers(md_sim *sim, const md_restart *r)
{
  for (md_observer *o = sim->observers; o; o = o->next)
    for (int64_t k = 0; k < r->noutput; ++k)
      if (o->resume && strcmp(o->id, r->output[k].id) == 0) {
        MD_TRY(o->resume(o, sim, &r->output[k]));
        o->marked = true;
      }
  return MD_OK;
}

/* Tells print from where on its lines may be in the files already. */
static md_status resume_printed(md_sim *sim, const md_restart *r)
{
  for (int64_t k = 0; k < r->noutput && sim->printed; ++k) {
    const md_output_mark *mark = &r->output[k];
    md_printed_file *file;
    if (strcmp(mark->id, MD_PRINTED_ID) != 0) continue;
    MD_TRY(md_printed_note(sim->printed, mark->file, &file));
    if (file) file->from = mark->bytes < 0 ? 0 : mark->bytes;
  }
  return MD_OK;
}

/* What a restart holds besides the particles and the state of fixes, for the run that it was written in. */
static md_status resume_run(md_sim *sim, const md_resume *resume)
{
  const md_restart *r = &resume->restart;
  md_restarts *restarts = &sim->restarts;
  if (md_restart_model_hash(&sim->model) != md_restart_model_hash(&r->model))
    return changed(sim, "its box, masses, interaction, fixes or timestep are different");
  MD_TRY(resume_observers(sim, r));
  MD_TRY(md_comm_agree(sim->comm, resume_printed(sim, r)));
  sim->has_first_energy = r->has_energy;
  sim->first_energy = r->first_energy;
  restarts->last_step = r->model.step;
  restarts->last_run = r->history.nrun;
  snprintf(restarts->last, sizeof restarts->last, "%s", resume->path);
  if (restarts->name[1] && strcmp(restarts->name[0], resume->path) == 0) restarts->next = 1;
  sim->redraws = r->has_draws && !r->unshown;
  sim->drawn_row = r->drawn_row;
  sim->drawn = r->drawn;
  if (r->unshown) md_variables_set_drawn(sim->variables, r->drawn);
  if (!r->has_draws && md_variables_drawn(sim->variables) > 0)
    md_log_print(
        sim->log,
        "Note: --resume: a program of an earlier version wrote %s; it does not say where the random numbers "
        "of formulas were, which now begin anew\n",
        resume->path);
  md_log_print(sim->log, "Resumed at step %lld\n", (long long)r->model.step);
  return MD_OK;
}

md_status md_resume_load(md_sim *sim)
{
  const md_resume *resume = sim->resume;
  const md_restart *r = &resume->restart;
  md_model *model = &sim->model;
  MD_TRY(sim->jumps ? md_output_fixes_jump(sim, r->output, r->noutput) : resume_run(sim, resume));
  for (int f = 0; f < model->nfix; ++f)
    memcpy(model->fix[f].state, r->model.fix[f].state, sizeof model->fix[f].state);
  MD_TRY(md_fixes_take_state(model));
  model->move = r->model.move;
  model->step = r->model.step;
  model->draw_shift = r->model.draw_shift;
  if (!sim->jumps || md_resume_holds(r, sim->jump_to)) {
    model->run_begin = r->model.run_begin;
    model->run_end = r->model.run_end;
  }
  sim->resume = NULL;
  /* A file that was written between runs has velocities. */
  return r->under_way ? MD_OK : md_comm_agree(sim->comm, md_model_enter(model, &sim->particles));
}
