/* Looking at the present state between runs, as an observer looks at a step of a run: an engine is made for it, and no
 * step is run. For what a state alone does not hold, such as forces and g(r). Cost: that of `run 0`. */
#ifndef MD_SRC_LIBRARY_PRESENT_H
#define MD_SRC_LIBRARY_PRESENT_H

#include "src/sim.h"

/* Calls `look` while the present state is shown: sim->view is its view, and particles have momenta. Creates an engine
 * for that, as a run of 0 steps does, prints nothing and calls no observer. Places, velocities, step and history do not
 * change, except that positions move to their grid and to the ranks that own them, as at the begin of the next run.
 * Returns an error of the model, the engine or `look`. Collective. */
md_status md_present_show(md_sim *sim, md_status (*look)(md_sim *sim, void *context),
                          void *context) MD_CHECKED;

/* Calls `look` as it is between runs. If it then returns MD_USAGE, perhaps because a step must be shown for it, calls
 * it again while the present state is shown. The message of an error is that of the last call. Collective. */
md_status md_present_find(md_sim *sim, md_status (*look)(md_sim *sim, void *context),
                          void *context) MD_CHECKED;

#endif
