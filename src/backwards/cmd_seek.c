/* The command seek: goes to a step, forwards or backwards, from the present one or from a restart.
 *
 * Each step is one of the command run, so that thermo, dumps and restarts see what they see in a run. The way from the
 * present step costs as many steps as lie between. If a restart of the same course is nearer (nearest.h), its particles
 * take the place of the present ones, and the steps are those from there. An earlier step is reached by undoing
 * steps (check_back.h says what cannot be undone). The present step is a run of 0 steps, so that --resume finds as many
 * runs as the deck has. Cost: that of the way, and the headers of the restarts are read. */
#include "src/backwards/check_back.h"
#include "src/backwards/nearest.h"
#include "src/deck/check.h"
#include "src/deck/command.h"
#include "src/plan.h"
#include "src/run/cmd_run.h"

#include <stdlib.h>
#include <string.h>

static const char *direction(int64_t n) { return n < 0 ? "back" : "forward"; }

/* Says which way is taken, if there was a choice. */
static void report(const md_sim *sim, const md_nearest *nearest, int64_t n)
{
  const md_resume *from = &nearest->resume;
  const int64_t here = nearest->to - sim->model.step;
  if (!nearest->found) {
    md_log_print(sim->log,
                 "Seek: step %lld from the present step %lld, %lld steps %s; no restart is nearer\n",
                 (long long)nearest->to, (long long)sim->model.step, llabs(here), direction(here));
    return;
  }
  char instead[96] = "as steps of the present state cannot be undone";
  if (nearest->direct < INT64_MAX)
    snprintf(instead, sizeof instead, "instead of %lld steps %s from the present step", llabs(here),
             direction(here));
  md_log_print(sim->log, "Seek: step %lld from %s, step %lld, %lld steps %s, and %lld for the reading, %s\n",
               (long long)nearest->to, from->path, (long long)from->restart.model.step, llabs(n),
               direction(n), (long long)md_nearest_reading(sim), instead);
}

/* Goes to the step from the restart that was found. */
static md_status go_from(md_sim *sim, md_nearest *nearest)
{
  const int64_t from = nearest->resume.restart.model.step;
  report(sim, nearest, nearest->to - from);
  sim->resume = &nearest->resume;
  sim->jumps = true;
  sim->jump_to = nearest->to;
  sim->model.step = from;
  const md_status status = md_run_steps(sim, nearest->to - from);
  sim->jumps = false;
  sim->resume = NULL;
  return status;
}

static md_status go(md_sim *sim, md_nearest *nearest)
{
  const int64_t n = nearest->to - sim->model.step;
  nearest->direct = n >= 0 || md_check_back(sim, "seek") == MD_OK ? llabs(n) : INT64_MAX;
  MD_TRY(md_nearest_find(sim, nearest));
  if (nearest->found) return go_from(sim, nearest);
  if (n < 0) MD_TRY(md_check_back(sim, "seek"));
  if (sim->restarts.name[0] || nearest->named.n > 0) report(sim, nearest, n);
  return md_run_steps(sim, n);
}

/* In a deck that is resumed: from where this seek went then, to the step. */
static md_status go_again(md_sim *sim, int64_t to)
{
  const md_history *then = &sim->resume->restart.history;
  if (sim->history.nrun < then->nrun) sim->model.step = then->run[sim->history.nrun].first;
  return md_run_steps(sim, to - sim->model.step);
}

static md_status read_words(const md_words *words, md_nearest *nearest)
{
  MD_TRY(md_word_int64(words->word[0], "the step of seek", 0, INT64_MAX, &nearest->to));
  if (words->n == 1) return MD_OK;
  if (strcmp(words->word[1], "from") != 0)
    return md_error(MD_USAGE, "seek: unexpected '%.80s'; accepted is from FILE ...", words->word[1]);
  if (words->n == 2) return md_error(MD_USAGE, "seek from needs the name of a restart, or several");
  nearest->named = (md_words){words->n - 2, words->word + 2};
  return md_h5_need("seek from a restart");
}

md_status md_do_seek(md_sim *sim, const md_words *words)
{
  md_nearest nearest = {0};
  MD_TRY(md_sim_need_box(sim, "seek"));
  MD_TRY(read_words(words, &nearest));
  const bool reads = sim->restarts.name[0] || nearest.named.n > 0;
  const int64_t n = nearest.to - sim->model.step;
  if (n < 0 && !reads) MD_TRY(md_check_back(sim, "seek"));
  if (sim->planning.checking) return md_check_run(sim, n);
  if (sim->planning.on) return md_plan_print(sim);
  if (md_run_is_left_out(sim, "seek")) return MD_OK;
  if (sim->resume) return go_again(sim, nearest.to);
  const md_status status = go(sim, &nearest);
  md_restart_free(&nearest.resume.restart);
  return status;
}
