/* Stopping a run early: at a signal, or before a limit of wall time.
 *
 * Signals: SIGTERM, SIGUSR1, SIGINT and SIGHUP only set a flag. The run loop (src/run/loop.c) reads the flag between
 * two pieces of a run. A second signal ends the program at once, with the default action of the system. A second signal
 * within 0.1 s is ignored, because a batch system and mpirun may both forward the same signal.
 *
 * Limits: the limit is the time of --walltime, which counts from the start of the program, or the end time of the
 * batch job (SLURM_JOB_END_TIME), whichever comes first. The run stops when the time that is left is less than the
 * sum of
 *   - a tenth of the limit, at most 10 s,
 *   - 1.5 times the longest time that a restart took to write,
 *   - twice the longest time of one piece of the run.
 */
#ifndef MD_SRC_STOP_H
#define MD_SRC_STOP_H

#include "common/base/error.h"
#include <stdbool.h>

typedef struct md_stop {
  double started; /* value of md_time() when the program started */
  double limit;   /* seconds after `started`; 0: none */
  bool batch;     /* the limit comes from the batch system */
  bool plain;     /* no restart is written */
  double piece;   /* longest time of one piece of a run so far, seconds */
} md_stop;

/* Holds these signals back until md_stop_listen, also while the program starts itself again by exec. */
void md_stop_hold(void);

/* Installs the signal handlers if `catches` is true, and lets the signals come that were held back. Called before MPI
 * begins, which takes some tenths of a second: by default a signal would end the program then. */
void md_stop_listen(bool catches);

/* If `batch_limit` is true, takes over the time limit of the batch system, if there is one and it comes before
 * stop->limit. stop->started and stop->limit must be set. */
void md_stop_begin(md_stop *stop, bool batch_limit);

/* For a library: from `begin` until `end` SIGINT alone sets the flag, unless the process ignores it. `end`, or a second
 * SIGINT, restores what the process did at SIGINT before, and the second one is then its. Both clear the flag. */
void md_stop_interrupts_begin(void);
void md_stop_interrupts_end(void);

/* Reads a duration such as "1:55:00", "D-H:M:S", "M:S" or a number of seconds. MD_USAGE: the text is none of
 * these. */
md_status md_stop_read_time(const char *text, double *seconds) MD_CHECKED;

/* The number of the signal that was received; 0: none. */
int md_stop_signal(void);
const char *md_stop_signal_name(int number);

/* Whether the run must stop now, if writing a restart takes `restart_seconds` seconds. Always false without a
 * limit. */
bool md_stop_is_late(const md_stop *stop, double restart_seconds);

#endif
