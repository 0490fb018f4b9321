/* The command seek: goes to a step, forwards or backwards, by the steps between it and the present one.
 *
 * Each of them is a step of the command run, so that thermo, dumps and restarts see what they see in a run. A step that
 * lies behind the present one is reached by undoing steps (check_back.h says what cannot be undone). The present step
 * is a run of 0 steps, so that --resume finds as many runs as the deck has. Cost: that of the steps between. */
#include "src/backwards/check_back.h"
#include "src/deck/check.h"
#include "src/deck/command.h"
#include "src/plan.h"
#include "src/run.h"

md_status md_do_seek(md_sim *sim, const md_words *words)
{
  int64_t step;
  MD_TRY(md_sim_need_box(sim, "seek"));
  MD_TRY(md_word_int64(words->word[0], "the step of seek", 0, INT64_MAX, &step));
  const int64_t n = step - sim->model.step;
  if (n < 0) MD_TRY(md_check_back(sim, "seek"));
  if (sim->planning.checking) return md_check_run(sim, n);
  if (sim->planning.on) return md_plan_print(sim);
  if (md_run_is_left_out(sim, "seek")) return MD_OK;
  return md_run_steps(sim, n);
}
