/* When restarts are written and under which names: the command `restart`, and runs that are stopped. */
#ifndef MD_SRC_COMMANDS_CMD_RESTART_H
#define MD_SRC_COMMANDS_CMD_RESTART_H

#include "src/sim.h"

/* The words of the command restart, checked. name[1] is NULL if the step makes the names. The caller frees them.
 * MD_USAGE. */
md_status md_restart_read_words(const md_words *words, int64_t *every, char *name[2]) MD_CHECKED;

/* The first step >= `step` at which a restart is due; INT64_MAX: never. */
int64_t md_restart_due(const md_restarts *restarts, int64_t step);

/* Writes the restart of the view's step under the name whose turn it is, or that of a stopped run. Files of dumps and
 * the log are complete before. Collective. MD_RUNTIME: disk full, ... */
md_status md_restart_observe(md_sim *sim, md_view *view) MD_CHECKED;

#endif
