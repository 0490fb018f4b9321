/* Changes of the particles within a run: fixes that insert or delete particles, or change the members of a group.
 *
 * After a step at which such a fix is due the run loop takes the particles from the engine, as at the end of a run,
 * lets the fixes change them, and makes a new engine. So the state is that of a run that ends at this step, a command,
 * and a second run. The rows and files of the step show the particles after the change. Fixes act in the order of the
 * deck.
 *
 * Trade-off: engines know nothing of it, and have equal bits as with every command between runs. Cost: that of the
 * beginning of a run, at each step with a change. Not in runs back, minimisations and reruns. */
#ifndef MD_SRC_EDIT_RUN_EDITS_H
#define MD_SRC_EDIT_RUN_EDITS_H

#include "src/sim.h"

/* The first step >= `step` after which a fix changes the particles; INT64_MAX: there is none. */
int64_t md_edits_due(const md_sim *sim, int64_t step);

/* Lets the fixes that are due change the particles after step model->step, without an engine. Collective. MD_USAGE,
 * MD_RUNTIME: of a fix. */
md_status md_edits_apply(md_sim *sim) MD_CHECKED;

/* The same before the first step of a run, for the fixes that act there too. */
md_status md_edits_begin(md_sim *sim) MD_CHECKED;

#endif
