/* When restarts are written and under which names: for the command `restart`, and for runs that are stopped. restart.h
 * has the file itself, and resume.h how a deck goes on from one. */
#ifndef MD_SRC_RESTART_CMD_RESTART_H
#define MD_SRC_RESTART_CMD_RESTART_H

#include "src/sim.h"

/* Reads and checks the words of the command restart. name[1] is NULL if the first name contains a * for the step.
 * The caller frees both names. MD_USAGE: a word is refused. */
md_status md_restart_read_words(const md_words *words, int64_t *every, char *name[2]) MD_CHECKED;

/* The first step >= `step` at which a restart is due; INT64_MAX: never. */
int64_t md_restart_due(const md_restarts *restarts, int64_t step);
/* The same for a run that goes back: the last step <= `step`; negative: never. */
int64_t md_restart_due_back(const md_restarts *restarts, int64_t step);

/* Is there a file to which the present run appends, and of which no restart says how long it was? */
bool md_restart_begins_file(const md_sim *sim);

/* Writes a restart of the view's step, under the next name of the command restart, or under the name for stopped
 * runs. Before that, it completes the files of dumps and the log. Collective. MD_RUNTIME: a write failed, for
 * example because the disk is full. */
md_status md_restart_observe(md_sim *sim, md_view *view) MD_CHECKED;

#endif
