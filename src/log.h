/* The log: everything that the program prints while it works, to the screen and to a log file.
 *
 * Only the log of rank 0 has sinks (open files). On other ranks every call does nothing. A terminal also gets one
 * progress line, which is redrawn in place. A file or pipe gets heartbeat lines instead, at most one in 30 s.
 * The caller (a session) opens and closes them. The log remembers a write error, and md_log_status reports it, so that
 * a full disk is noticed.
 */
#ifndef MD_SRC_LOG_H
#define MD_SRC_LOG_H

#include "common/base/error.h"
#include <stdbool.h>
#include <stdio.h>

typedef struct md_log {
  FILE *screen;                     /* or NULL */
  FILE *file;                       /* or NULL */
  char file_name[256];              /* of `file`, possibly truncated; for messages */
  bool live;                        /* `screen` is a terminal, where the progress line can be redrawn */
  bool line_open;                   /* the terminal shows a progress line now */
  bool echo_screen, echo_file;      /* as the command echo sets them */
  bool screen_failed, file_failed;  /* a write has failed */
  double last_heartbeat, last_live; /* seconds since the run's start */
} md_log;

/* Closes the log file, if one is open, and opens `name` with a mode of fopen. The name `none` opens nothing. shared:
 * another simulation of this process has it open. MD_RUNTIME: the file cannot be opened. */
md_status md_log_open(md_log *log, const char *name, const char *mode, bool shared) MD_CHECKED;

/* Prints to both sinks. The format contains the newlines. */
void md_log_print(md_log *log, const char *format, ...) MD_PRINTF(2, 3);

/* Writes a text with ? in place of every terminal control character. Returns false if writing failed. */
bool md_log_put_visibly(FILE *file, const char *text);

/* Prints a line of the deck to the sinks that have echo on. */
void md_log_echo(md_log *log, const char *line);

/* The progress of a run. */
typedef struct md_progress {
  long long done, total; /* steps */
  long long here;        /* steps that this process did; fewer than `done` if the run was resumed */
  double seconds;        /* since this process began its steps */
  double rate;           /* particle-steps per second */
  bool has_drift;
  double drift; /* of the total energy since the first thermo row of the run, relative to that row */
} md_progress;

/* Redraws the progress line if the last drawing is 0.1 s old, and prints a heartbeat if the last one is 30 s old. */
void md_log_progress(md_log *log, const md_progress *progress);

/* Removes the progress line from the terminal, if there is one. To call at the end of a run. */
void md_log_progress_end(md_log *log);

/* Flushes the buffers of both sinks. */
void md_log_flush(md_log *log);

/* Flushes both sinks. MD_RUNTIME: a write has failed since the log was opened. md_log_file_status: a write to the
 * file. */
md_status md_log_status(md_log *log) MD_CHECKED;
md_status md_log_file_status(md_log *log) MD_CHECKED;

/* Closes both sinks, but not the standard output. MD_RUNTIME: the log file could not be completed. */
md_status md_log_close(md_log *log) MD_CHECKED;

#endif
