/* When a run ends before its time: at a signal, or before a limit of wall time.
 *
 * SIGTERM, SIGUSR1 and SIGINT only leave a note, which the run loop looks at between two pieces of a run. A second one
 * ends the program at once, in the way the system does; only one that comes within a tenth of a second does not count,
 * because batch systems and mpirun may both pass the same one on.
 *
 * A limit is the time of --walltime, which counts from the program's start, or that of the batch system
 * (SLURM_JOB_END_TIME), whichever comes first. What is kept free before it: a tenth of the limit but at most 10 s, one
 * and a half times what the longest restart took to write, and twice the longest piece of the run.
 */
#ifndef MD_SRC_STOP_H
#define MD_SRC_STOP_H

#include "common/base/error.h"
#include <stdbool.h>

typedef struct md_stop {
  double started; /* md_time() when the program began */
  double limit;   /* seconds after that; 0: none */
  bool batch;     /* the limit is that of the batch system */
  double piece;   /* seconds of the longest piece of a run so far */
} md_stop;

/* Takes the signals over, and the batch system's limit if there is one and it is not switched off. */
void md_stop_begin(md_stop *stop, bool batch_limit);

/* "1:55:00", "D-H:M:S", "M:S" or seconds. MD_USAGE: none of them. */
md_status md_stop_read_time(const char *text, double *seconds) MD_CHECKED;

/* The number of the signal that came, 0: none. */
int md_stop_signal(void);
const char *md_stop_signal_name(int number);

/* Whether it is time to end, if a restart takes that many seconds. */
bool md_stop_is_late(const md_stop *stop, double restart_seconds);

#endif
