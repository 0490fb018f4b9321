/* Steps with fixes that act after them: point 6 of the step (common/step/step.h).
 *
 * 1. The engine runs to the next step after which a fix acts. There velocities are complete.
 * 2. For each fix that acts there, integrators first, and then in the order of the deck:
 *    a  the engine sums the terms of the fix's compute alone, and the ranks add their sums up;
 *    b  every rank makes the numbers of the action from the same exact sums, by the same operations;
 *    c  the engine applies the action to its particles.
 *
 *        engine->run(n)          measure  reduce   end    act
 *   |-----------------------|  ----------------------------------  |------ ...
 *   step                    step + n: the velocities change here
 *
 * Some fixes act before a step too: before each step, 2 is done for them alone, and n is 1. They need no sum there if
 * no other fix has acted since their own action after the step before: they know what that action has made of the
 * values (md_fix_end_knows). At the beginning of a run these values are compared with a sum, because commands between
 * runs may change the particles; a resumed run knows them. The state of a step that is observed is that after it.
 *
 * So the numbers have the same bits for any number of ranks, threads and GPUs. A fix acts only after a step that was
 * done: not at the beginning of a run, and not after the step from which a run is resumed.
 *
 * Trade-off: the kernels of steps know nothing of such fixes, and steps without one after them are as fast as ever.
 * But the host waits for the engine where a fix acts.
 * Cost: see common/fix/fix.h.
 */
#ifndef MD_SRC_FIXES_FIX_END_H
#define MD_SRC_FIXES_FIX_END_H

#include "src/sim.h"

/* MD_USAGE if a fix that acts after steps has a group without particles. For the beginning of a run. */
md_status md_fix_end_check(const md_model *model) MD_CHECKED;

/* Where a run is: at its beginning; in the middle, after an edit of the particles; or there after a restart, and all
 * that fixes know is true. */
typedef enum md_run_place { MD_RUN_BEGINS, MD_RUN_EDITED, MD_RUN_RESUMED } md_run_place;

/* Lets the fixes forget what they know of an earlier run and is true no more. Collective. */
md_status md_fix_end_begin(const md_engine_kind *kind, md_engine *engine, md_comm *comm, md_model *model,
                           md_run_place place) MD_CHECKED;

/* Prints a note if a fix that samples values comes before one that acts after steps: it sees what that one has done. In
 * LAMMPS it would not. For the beginning of a run. */
void md_fix_end_explain(md_sim *sim);

/* Runs n steps of an engine, with the fixes that act after them, and with those whose numbers are variables
 * (fix_vary.h). An error may be that of one rank only, as with
 * md_engine_kind.run, if the last step has no fix after it. MD_PHYSICS: of the engine or of a fix. Collective. */
md_status md_fix_end_run(const md_engine_kind *kind, md_engine *engine, md_sim *sim, int64_t n) MD_CHECKED;

#endif
