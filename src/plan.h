/* `myriad plan`: the memory that an engine would need for a deck, without running it. */
#ifndef MD_SRC_PLAN_H
#define MD_SRC_PLAN_H

#include "src/sim.h"

/* Before the deck is read. MD_USAGE: the engine has no plan; names those that have. */
md_status md_plan_check(const md_sim *sim) MD_CHECKED;

/* Prints the plan for the present model and sim->planning.particles, through the log, and marks it as done.
 * The engine must have one. MD_USAGE: the deck is not ready to run, or there are no particles. */
md_status md_plan_print(md_sim *sim) MD_CHECKED;

/* Before a run of a prepared model: MD_RUNTIME if what the engine would need is more than the memory that is left, with
 * how many particles would fit. Collective. */
md_status md_plan_check_room(md_sim *sim) MD_CHECKED;

#endif
