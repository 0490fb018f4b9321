/* `myriad plan`: the memory that an engine would need for a deck, computed without running the deck. */
#ifndef MD_SRC_PLAN_H
#define MD_SRC_PLAN_H

#include "src/sim.h"

/* To call before the deck is read. MD_USAGE: the engine has no plan; the message names the engines that have one. */
md_status md_plan_check(const md_sim *sim) MD_CHECKED;

/* Prints the plan for the present model and for sim->planning.particles particles to the log, and sets
 * planning.done. The engine must have a plan function. MD_USAGE: the deck is not ready to run, or there are no
 * particles. */
md_status md_plan_print(md_sim *sim) MD_CHECKED;

/* To call before a run, with a prepared model. MD_RUNTIME: the engine would need more memory than is available;
 * the message says how many particles would fit. Collective. */
md_status md_plan_check_room(md_sim *sim) MD_CHECKED;

#endif
