/* The log: everything the program says while it works, to the screen and to a log file.
 *
 * Only the root rank's log has sinks; on other ranks every call does nothing. A terminal additionally gets one
 * live progress line, redrawn in place; a file or pipe gets heartbeat lines instead, at most one in 30 s.
 * Sinks belong to the caller (main), who opens and closes them. A write error is remembered and reported by
 * md_log_status, so that a full disk does not pass silently.
 */
#ifndef MD_SRC_LOG_H
#define MD_SRC_LOG_H

#include "common/base/error.h"
#include <stdbool.h>
#include <stdio.h>

typedef struct md_log {
  FILE *screen;                /* or NULL */
  FILE *file;                  /* or NULL */
  char file_name[256];         /* of file, possibly cut; for messages */
  bool live;                   /* screen is a terminal: the progress line may be redrawn */
  bool line_open;              /* a live line stands on the terminal */
  bool echo_screen, echo_file; /* of the echo command */
  bool failed;
  double last_heartbeat, last_live; /* seconds since the run's start */
} md_log;

/* Closes the log file, if there is one, and opens `name` with fopen's mode; `none` opens nothing. */
md_status md_log_open(md_log *log, const char *name, const char *mode) MD_CHECKED;

/* One line or several, newline included in the format, to both sinks. */
void md_log_print(md_log *log, const char *format, ...) MD_PRINTF(2, 3);

/* Writes a text with ? in place of every character that steers a terminal; false: writing failed. */
bool md_log_put_visibly(FILE *file, const char *text);

/* A deck line as it is read, to the sinks that echo. */
void md_log_echo(md_log *log, const char *line);

/* How far a run is. */
typedef struct md_progress {
  long long done, total; /* steps */
  long long here;        /* of those done, the steps of this process: a resumed run begins with others */
  double seconds;        /* since this process began them */
  double rate;           /* particle-steps per second */
  bool has_drift;
  double drift; /* of the total energy since the run's first thermo row, relative to it */
} md_progress;

/* Redraws the live line, or prints a heartbeat if the last one is 30 s old. */
void md_log_progress(md_log *log, const md_progress *progress);

/* Removes the live line, if one stands; called at a run's end. */
void md_log_progress_end(md_log *log);

/* Hands what is buffered to the system. */
void md_log_flush(md_log *log);

/* Flushes; MD_RUNTIME if any write failed. */
md_status md_log_status(md_log *log) MD_CHECKED;

#endif
