/* The run loop: steps, and what is shown between them. */
#ifndef MD_SRC_RUN_LOOP_H
#define MD_SRC_RUN_LOOP_H

#include "src/run/run.h"

/* Shows the first step, does the work of the run, and writes a restart where the run stops early. Collective. */
md_status md_run_loop(md_run *run) MD_CHECKED;

/* The work of the command run: steps, from one that an observer wants to see to the next. Collective. */
md_status md_run_to_last(md_run *run) MD_CHECKED;

/* Lets the engine do steps to step `to`, in the direction of the run, or until the run must stop; in pieces that are
 * short enough to report progress between them. Collective. */
md_status md_run_advance(md_run *run, int64_t to) MD_CHECKED;

/* Shows the present step to the observers that are due. Collective. */
md_status md_run_show(md_run *run) MD_CHECKED;

/* The next step from `step` on, in the direction of the run, that an observer wants to see. */
int64_t md_run_next_due(const md_run *run, int64_t step);

/* Looks at signals and the limit of time, so that all ranks act alike: *seconds, the time of the last piece of work,
 * becomes the largest of all ranks. Prints the progress. Collective. */
md_status md_run_look(md_run *run, double *seconds) MD_CHECKED;

#endif
