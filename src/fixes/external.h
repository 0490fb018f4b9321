/* Fix external in a simulation: the field of its forces, and what a run needs of it (common/force/external.h). */
#ifndef MD_SRC_FIXES_EXTERNAL_H
#define MD_SRC_FIXES_EXTERNAL_H

#include "src/sim.h"

/* Gives the particles the field if fix `index` of the model, a new one, is external. The forces are 0, or those of the
 * restart from which the fix goes on. MD_RUNTIME: out of memory. Collective. */
md_status md_external_begin(md_sim *sim, int index) MD_CHECKED;

/* Takes the field away if no fix needs it any more. */
md_status md_external_end(md_sim *sim) MD_CHECKED;

/* For the beginning of a run. MD_USAGE: a fix external has no function, or acts where no engine has it. */
md_status md_external_check(const md_sim *sim) MD_CHECKED;

#endif
