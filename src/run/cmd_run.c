/* The command run, and runs that other commands ask for; see cmd_run.h. */
#include "src/run/cmd_run.h"
#include "src/backwards/check_back.h"
#include "src/backwards/frame.h"
#include "src/box/faces.h"
#include "src/deck/check.h"
#include "src/deck/deck.h"
#include "src/edit/run_edits.h"
#include "src/follow/images.h"
#include "src/plan.h"
#include "src/restart/resume.h"
#include "src/run/loop.h"
#include "src/stop.h"

#include <stdlib.h>
#include <string.h>

bool md_run_is_left_out(md_sim *sim, const char *command)
{
  if (sim->halted != MD_HALT_ALL) return false;
  md_log_print(sim->log, "  %s is left out, because fix halt has ended the runs of this deck\n", command);
  return true;
}

/* How the words of the command run ask for a run. */
typedef struct run_words {
  int64_t n;           /* steps; negative: back */
  int64_t start, stop; /* of ramps; -1: not given */
  bool brief;          /* post no */
  int64_t every;       /* steps of a piece; 0: one piece */
  md_words commands;   /* after each piece */
} run_words;

/* Says before the first step what a resume would say after all of them. */
static void warn_of_resume(md_sim *sim)
{
  char text[256];
  const bool wanted = sim->restarts.every > 0 || sim->resuming || (sim->stop && sim->stop->limit > 0.0);
  if (!sim->bars_resume[0] || !wanted || sim->frame) return;
  snprintf(text, sizeof text,
           "it cannot go on with a run after %s, which it cannot skip; read_restart in another deck can",
           sim->bars_resume);
  md_sim_explain(sim, "--resume", text);
}

/* Runs n steps. */
static md_status run_piece(md_sim *sim, int64_t n, const run_words *asked)
{
  md_model *model = &sim->model;
  md_run run = {.sim = sim,
                .whole_first = model->step,
                .last = model->step + n,
                .thermo_shown = -1,
                .work = md_run_to_last};
  run.brief = asked->brief;
  bool passed;
  sim->halted = MD_HALT_NONE;
  MD_TRY(md_sim_count(sim));
  MD_TRY(md_images_expect(sim, n != 0));
  MD_TRY(md_resume_begin(sim, run.whole_first, run.last, &passed));
  if (passed) return MD_OK;
  run.last = sim->history.run[sim->history.nrun - 1].last;
  warn_of_resume(sim);
  const bool edits = md_edits_due(sim, 0) != INT64_MAX;
  if (!sim->resume && n > 0) MD_TRY(md_edits_begin(sim));
  model->run_begin = asked->start >= 0 ? asked->start : run.whole_first;
  model->run_end = asked->stop >= 0 ? asked->stop : run.last;
  sim->run_first = run.whole_first;
  sim->run_last = run.last;
  sim->has_first_energy = false;
  const bool frame = sim->frame && md_frame_is_in(sim->frame, run.whole_first, run.last);
  int64_t from = run.whole_first;
  if (frame) {
    MD_TRY(md_frame_begin(sim, &from));
    run.last = sim->frame->step;
  }
  model->backwards = frame ? run.last < from : n < 0;
  const md_status status = md_run_execute(&run);
  model->backwards = false;
  if (status != MD_OK) return md_run_refused(sim, status);
  if (frame) MD_TRY(md_frame_end(sim));
  if (edits) ++sim->history.edits;
  md_run_note(sim, run.last);
  return MD_OK;
}

md_status md_run_steps(md_sim *sim, int64_t n)
{
  const run_words plain = {.n = n, .start = -1, .stop = -1};
  if (n < 0) MD_TRY(md_check_back(sim, "run -N"));
  return run_piece(sim, n, &plain);
}

/* Reads a step after the keyword words[*w] of the command run, and moves *w to the step. */
static md_status read_step(const md_words *words, int *w, int64_t *step)
{
  if (*w + 1 == words->n) return md_error(MD_USAGE, "run %s needs a step", words->word[*w]);
  const char *what = strcmp(words->word[*w], "start") == 0 ? "the step of run start" : "the step of run stop";
  return md_word_int64(words->word[++*w], what, 0, INT64_MAX, step);
}

static md_status read_upto(const md_sim *sim, run_words *asked)
{
  if (asked->n < 0) return md_error(MD_USAGE, "run %lld upto: there is no step below 0", (long long)asked->n);
  if (asked->n < sim->model.step)
    return md_error(MD_USAGE,
                    "run upto %lld: the present step %lld is already beyond it; `run -%lld` goes back there",
                    (long long)asked->n, (long long)sim->model.step, (long long)sim->model.step - asked->n);
  asked->n -= sim->model.step;
  return MD_OK;
}

/* Reads what stands after `every`, up to the end of the line. */
static md_status read_every(const md_words *words, int at, run_words *asked)
{
  if (at + 1 >= words->n)
    return md_error(MD_USAGE, "run every needs a number of steps, and commands in quotes, or NULL");
  MD_TRY(md_word_int64(words->word[at], "the steps of run every", 1, INT64_MAX, &asked->every));
  asked->commands = (md_words){words->n - at - 1, words->word + at + 1};
  if (asked->commands.n == 1 && strcmp(asked->commands.word[0], "NULL") == 0) asked->commands.n = 0;
  return MD_OK;
}

/* Reads pre or post and its value. */
static md_status read_pre_post(md_sim *sim, const md_words *words, int *w, run_words *asked)
{
  const bool pre = strcmp(words->word[*w], "pre") == 0;
  bool yes;
  if (*w + 1 == words->n) return md_error(MD_USAGE, "run %s needs yes or no", words->word[*w]);
  MD_TRY(md_word_bool(words->word[++*w], pre ? "run pre" : "run post", &yes));
  if (pre)
    md_sim_explain(sim, "run pre", "every run prepares itself");
  else
    asked->brief = !yes;
  return MD_OK;
}

static md_status read_run(md_sim *sim, const md_words *words, run_words *asked)
{
  *asked = (run_words){.start = -1, .stop = -1};
  MD_TRY(md_word_int64(words->word[0], "the number of steps", -INT64_MAX, INT64_MAX, &asked->n));
  for (int w = 1; w < words->n && asked->every == 0; ++w) {
    const char *word = words->word[w];
    if (strcmp(word, "upto") == 0)
      MD_TRY(read_upto(sim, asked));
    else if (strcmp(word, "start") == 0)
      MD_TRY(read_step(words, &w, &asked->start));
    else if (strcmp(word, "stop") == 0)
      MD_TRY(read_step(words, &w, &asked->stop));
    else if (strcmp(word, "pre") == 0 || strcmp(word, "post") == 0)
      MD_TRY(read_pre_post(sim, words, &w, asked));
    else if (strcmp(word, "every") == 0)
      MD_TRY(read_every(words, w + 1, asked));
    else
      return md_error(MD_USAGE,
                      "run: unknown keyword '%s'; accepted are upto, start STEP, stop STEP, pre yes|no, post "
                      "yes|no, every M NULL|'COMMAND' ...",
                      word);
  }
  return MD_OK;
}

static md_status check_steps(const md_sim *sim, const run_words *asked)
{
  const int64_t now = sim->model.step;
  if (asked->n < 0 && (asked->start >= 0 || asked->stop >= 0))
    return md_error(MD_USAGE,
                    "run -N has no start and stop: they are of ramps, and no fix with a ramp goes back");
  if (asked->n < -now)
    return md_error(MD_USAGE, "run %lld: from the present step %lld it would go to a step below 0",
                    (long long)asked->n, (long long)now);
  if (asked->n > 0 && now > INT64_MAX - asked->n)
    return md_error(MD_USAGE, "run %lld: the last step would be beyond 2^63 - 1, as the present one is %lld",
                    (long long)asked->n, (long long)now);
  if (asked->start > now || (asked->stop >= 0 && asked->stop < now + asked->n))
    return md_error(MD_USAGE, "run: the steps %lld to %lld must lie between those of start and stop",
                    (long long)now, (long long)(now + asked->n));
  return MD_OK;
}

static md_status run_commands(md_sim *sim, const md_words *commands)
{
  for (int k = 0; k < commands->n && !sim->script.quit; ++k) MD_TRY(md_deck_line(sim, commands->word[k]));
  return MD_OK;
}

/* Runs in pieces. A ramp goes over all of them. The piece that holds the rest is shorter. */
static md_status run_pieces(md_sim *sim, const run_words *asked)
{
  run_words whole = *asked;
  const bool back = asked->n < 0;
  if (whole.start < 0) whole.start = sim->model.step;
  if (whole.stop < 0) whole.stop = sim->model.step + asked->n;
  int64_t left = llabs(asked->n);
  do {
    const int64_t n = left < asked->every ? left : asked->every;
    left -= n;
    MD_TRY(md_sim_need_box(sim, "run every"));
    MD_TRY(run_piece(sim, back ? -n : n, &whole));
    MD_TRY(run_commands(sim, &asked->commands));
  } while (left > 0 && !sim->script.quit && sim->halted == MD_HALT_NONE);
  return MD_OK;
}

md_status md_do_run(md_sim *sim, const md_words *words)
{
  run_words asked;
  MD_TRY(md_sim_need_box(sim, "run"));
  MD_TRY(read_run(sim, words, &asked));
  MD_TRY(check_steps(sim, &asked));
  if (asked.n < 0) MD_TRY(md_check_back(sim, "run -N"));
  if (sim->planning.checking) {
    MD_TRY(md_images_expect(sim, asked.n != 0));
    MD_TRY(md_check_run(sim, asked.n));
    return run_commands(sim, &asked.commands);
  }
  if (sim->planning.on) return md_plan_print(sim);
  if (md_run_is_left_out(sim, "run")) return MD_OK;
  return asked.every > 0 ? run_pieces(sim, &asked) : run_piece(sim, asked.n, &asked);
}
