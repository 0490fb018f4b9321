/* The command rerun: goes through the snapshots of dumps, and shows each to thermo, output fixes and dumps as a run
 * shows its steps. Nothing moves: positions and velocities are those of the files.
 *
 * For each snapshot the model is prepared and the engine made anew, since box and grids may change. So a snapshot costs
 * what `run 0` costs. A dump with 17 digits gives the bits of the run that wrote it. Reference: the LAMMPS manual,
 * command rerun. */
#include "common/model.h"
#include "common/ranks/reductions.h"
#include "src/averages/output_fix.h"
#include "src/deck/check.h"
#include "src/fixes/fix_vary.h"
#include "src/plan.h"
#include "src/replay/take.h"
#include "src/run/loop.h"

#include <string.h>

typedef struct rerun {
  int nfile;
  int64_t first, last, every, skip;
  int64_t start, stop; /* of ramps; -1: not given */
  bool brief;          /* post no */
  md_take take;
  md_snapshots *snapshots;
  const md_snapshot *next; /* the next one to take; NULL: there is none */
  int64_t matching;        /* snapshots that first, last and every admit, so far */
  int64_t step;            /* of the snapshot that was taken last; -1: none */
  int64_t taken;
} rerun;

/* ---- words ---- */

/* Reads what stands before `dump`; *at moves to the fields after it. */
static md_status read_keywords(rerun *r, const md_words *words, int *at)
{
  const struct {
    const char *name;
    int64_t *value, least;
  } keywords[] = {{"first", &r->first, 0}, {"last", &r->last, 0},   {"every", &r->every, 0},
                  {"skip", &r->skip, 1},   {"start", &r->start, 0}, {"stop", &r->stop, 0}};
  enum { KEYWORDS = sizeof keywords / sizeof keywords[0] };
  while (*at < words->n && strcmp(words->word[*at], "dump") != 0) {
    const char *word = words->word[*at];
    const bool post = strcmp(word, "post") == 0;
    bool yes = true;
    int k = 0;
    while (k < KEYWORDS && strcmp(keywords[k].name, word) != 0) ++k;
    if (k == KEYWORDS && !post)
      return md_error(
          MD_USAGE,
          "rerun: unknown keyword '%.64s'; accepted are first, last, every, skip, start, stop, post, "
          "and then dump",
          word);
    if (*at + 1 == words->n) return md_error(MD_USAGE, "rerun %s: its value is missing", word);
    const char *value = words->word[*at + 1];
    MD_TRY(post ? md_word_bool(value, "rerun post", &yes)
                : md_word_int64(value, word, keywords[k].least, INT64_MAX, keywords[k].value));
    r->brief = r->brief || !yes;
    *at += 2;
  }
  if (*at == words->n)
    return md_error(MD_USAGE, "rerun ends with `dump` and the fields to take over, as x y z");
  ++*at;
  return MD_OK;
}

static bool is_keyword(const char *word)
{
  static const char *const names[] = {"first", "last", "every", "skip", "start", "stop", "post", "dump"};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k)
    if (strcmp(word, names[k]) == 0) return true;
  return false;
}

static md_status read_words(md_sim *sim, const md_words *words, rerun *r)
{
  *r = (rerun){.last = INT64_MAX, .skip = 1, .start = -1, .stop = -1, .step = -1};
  while (r->nfile < words->n && !is_keyword(words->word[r->nfile])) ++r->nfile;
  if (r->nfile == 0) return md_error(MD_USAGE, "rerun needs the names of dumps first");
  int at = r->nfile;
  MD_TRY(read_keywords(r, words, &at));
  if (r->first > r->last)
    return md_error(MD_USAGE, "rerun: first %lld is after last %lld", (long long)r->first,
                    (long long)r->last);
  if (r->start >= 0 && r->stop >= 0 && r->start > r->stop)
    return md_error(MD_USAGE, "rerun: start %lld is after stop %lld", (long long)r->start,
                    (long long)r->stop);
  return md_take_read(sim, "rerun", &(md_words){words->n - at, words->word + at}, &r->take);
}

/* ---- snapshots ---- */

/* Goes to the next snapshot that is asked for. */
static md_status find_next(rerun *r)
{
  for (;;) {
    MD_TRY(md_snapshots_next(r->snapshots, &r->next));
    if (!r->next) return MD_OK;
    const int64_t step = r->next->step;
    if (step > r->last) {
      r->next = NULL;
      return MD_OK;
    }
    if (step < r->first || step <= r->step || (r->every > 0 && step % r->every != 0)) continue;
    if (r->matching++ % r->skip == 0) return MD_OK;
  }
}

/* A fix that samples steps must not miss one. */
static md_status check_samples(md_sim *sim, int64_t before, int64_t step)
{
  for (md_observer *o = sim->observers; o && md_is_output_fix(o); o = o->next) {
    const md_output_fix *fix = (const md_output_fix *)o;
    const int64_t due = fix->style->keeps_step ? o->due(o, before + 1) : step;
    if (due < step)
      return md_error(MD_USAGE,
                      "rerun: fix %s (%s) samples step %lld, but the snapshots are of the steps %lld and "
                      "%lld: choose its intervals so that all its samples are at these steps",
                      fix->id, fix->style->name, (long long)due, (long long)before, (long long)step);
  }
  return MD_OK;
}

/* Takes the snapshot over, and finds the one after it. */
static md_status take_next(md_sim *sim, rerun *r)
{
  md_taken taken;
  const int64_t step = r->next->step;
  MD_TRY(md_take_snapshot(sim, "rerun", &r->take, r->snapshots, r->next, &taken));
  r->step = step;
  ++r->taken;
  sim->model.step = step;
  return md_comm_agree(sim->comm, find_next(r));
}

/* The rows of thermo stand at its interval, and at the last snapshot. */
static void set_last(md_run *run, const rerun *r) { run->last = r->next ? INT64_MAX : r->step; }

/* The work of the run (src/run/run.h). The first snapshot is shown already. */
static md_status work(md_run *run)
{
  rerun *r = run->rerun;
  md_sim *sim = run->sim;
  while (r->next && !md_run_is_stopped(run)) {
    double seconds = 0.0;
    MD_TRY(check_samples(sim, r->step, r->next->step));
    md_run_destroy_engine(run);
    md_model_leave(&sim->model, &sim->particles);
    MD_TRY(take_next(sim, r));
    set_last(run, r);
    MD_TRY(md_run_renew(run));
    MD_TRY(md_fix_vary(sim, 0));
    MD_TRY(md_run_show(run));
    run->shown = r->taken;
    MD_TRY(md_run_look(run, &seconds));
  }
  return MD_OK;
}

static md_status execute(md_sim *sim, rerun *r)
{
  md_model *model = &sim->model;
  const int64_t began = model->step;
  md_run run = {.sim = sim, .thermo_shown = -1, .work = work, .rerun = r, .shown = 1, .brief = r->brief};
  MD_TRY(md_comm_agree(sim->comm, find_next(r)));
  if (!r->next) return md_error(MD_USAGE, "rerun: the dumps have no snapshot that is asked for");
  if (r->next->step < model->step) MD_TRY(md_output_fixes_reset(sim, "rerun", r->next->step));
  MD_TRY(take_next(sim, r));
  run.whole_first = model->step;
  set_last(&run, r);
  model->run_begin = r->start >= 0 ? r->start : model->step;
  model->run_end = r->stop >= 0 ? r->stop : r->last < INT64_MAX ? r->last : model->run_begin;
  sim->run_first = model->step;
  sim->run_last = r->last < INT64_MAX ? r->last : model->step;
  sim->has_first_energy = false;
  const md_status status = md_run_execute(&run);
  /* To random numbers the whole rerun is one change of the step's number. */
  const int64_t last = model->step;
  model->step = began;
  md_model_set_step(model, last);
  return status;
}

md_status md_do_rerun(md_sim *sim, const md_words *words)
{
  rerun r;
  MD_TRY(md_sim_need_box(sim, "rerun"));
  MD_TRY(read_words(sim, words, &r));
  if (sim->planning.checking) {
    MD_TRY(md_check_run(sim, 0));
    return md_snapshots_check_files(r.nfile, words->word);
  }
  if (sim->planning.on) return md_plan_print(sim);
  if (sim->resume)
    return md_error(MD_USAGE, "--resume: the restart was written after a rerun, and --resume cannot skip a "
                              "rerun: start the deck without --resume");
  snprintf(sim->bars_resume, sizeof sim->bars_resume, "rerun");
  for (int k = 0; k < r.nfile; ++k) MD_TRY(md_sim_use_file(sim, MD_FILE_INCLUDE, NULL, words->word[k]));
  md_status status = md_comm_agree(sim->comm, md_snapshots_open(&r.snapshots, r.nfile, words->word));
  if (status == MD_OK) status = execute(sim, &r);
  md_snapshots_close(r.snapshots);
  return status;
}
