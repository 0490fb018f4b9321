/* What a run says about itself in the log: engine and grids before its first step; time, ranks and memory after its
 * last one; how to go on where it was stopped.
 *
 * The lines "Per MPI rank memory allocation" and "Loop time of" and the table of times are those of LAMMPS, so that
 * existing readers of logs work.
 */
#ifndef MD_SRC_RUN_SUMMARY_H
#define MD_SRC_RUN_SUMMARY_H

#include "src/run/run.h"

/* Prints the engine, the grids of the model, and how finely they resolve. */
void md_run_describe(const md_run *run);

/* Prints the grid of ranks that was chosen for the engine. */
void md_run_describe_grid(md_sim *sim);

/* Prints the line that many log readers take for the start of a thermo table. Collective. */
md_status md_run_announce_memory(md_run *run) MD_CHECKED;

/* Prints the summary. `timers` are the engine's timers at the end of the loop, `seconds` the time of the loop; later
 * work is not part of the time. Collective. */
md_status md_run_summary(const md_run *run, const md_timers *timers, double seconds) MD_CHECKED;

/* The error of a stopped run: the reason, and how to continue. */
md_status md_run_stopped(const md_run *run) MD_CHECKED;

#endif
