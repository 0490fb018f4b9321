/* Numbers of fixes that variables of style equal give: v_NAME among their arguments, as in LAMMPS.
 *
 * A force at the positions after step s takes the values of the variables at step s, before the kick of the step that
 * leads there and after it. So an engine that computes steps without a stop needs them in advance: the program fills
 * rows of actions, one for each step (md_forces_at in common/force/forces.h), and the engine runs to the last of them.
 *
 * Trade-off: the formulas may read the step, the time, the box and other variables, and not the state of the
 * particles, which nothing knows in advance. In return a GPU runs some 60 steps untouched, and a run that is resumed or
 * cut has the same bits. The box is that of the positions: a change of the box belongs to the drift of the next step,
 * and is known before it, whatever is shown in between.
 * `fix move variable` takes the values after the step, and its state: such steps are run one by one.
 * Cost: an evaluation of each variable on the host in each step, and a stop of the engine once in MD_FORCE_ROWS steps.
 */
#ifndef MD_SRC_FIXES_FIX_VARY_H
#define MD_SRC_FIXES_FIX_VARY_H

#include "src/sim.h"

/* Fills the rows of a prepared model for the present step and n < MD_FORCE_ROWS more. MD_USAGE: a formula cannot be
 * evaluated, or its value does not suit the fix. The same on all ranks. */
md_status md_fix_vary(md_sim *sim, int64_t n) MD_CHECKED;

/* Runs n steps of an engine, with rows. An error may be that of one rank only. Collective. */
md_status md_fix_vary_run(const md_engine_kind *kind, md_engine *engine, md_sim *sim, int64_t n) MD_CHECKED;

#endif
