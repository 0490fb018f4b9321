/* The command run, and runs that other commands ask for. */
#ifndef MD_SRC_RUN_CMD_RUN_H
#define MD_SRC_RUN_CMD_RUN_H

#include "src/sim.h"

/* Runs n steps, or -n steps back, without keywords of the command run. Collective. MD_USAGE: a run back is not possible
 * (src/backwards/check_back.h). */
md_status md_run_steps(md_sim *sim, int64_t n) MD_CHECKED;

/* Has a fix halt ended all runs? Then it says in the log that the command is left out. */
bool md_run_is_left_out(md_sim *sim, const char *command);

#endif
