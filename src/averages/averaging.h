/* Averages over time, as several fixes make them: which steps are taken, and what becomes of each average.
 *
 * A schedule takes REPEAT samples, EVERY steps apart, the last of them at a multiple of FREQ. A running average is the
 * last one alone, the mean of all so far, or the mean of the last M.
 *
 *    step      |.......x..x..x|.......x..x..x|        FREQ 14, EVERY 3, REPEAT 3
 *
 * Reference: the LAMMPS manual, fix ave/time. */
#ifndef MD_SRC_AVERAGES_AVERAGING_H
#define MD_SRC_AVERAGES_AVERAGING_H

#include "src/averages/output_fix.h"

struct md_schedule {
  int64_t every, repeat, freq, start;
  int64_t next; /* step of the next sample */
  int64_t done; /* samples of the present average */
};

/* Reads EVERY REPEAT FREQ. MD_USAGE: they do not fit. */
md_status md_schedule_read(md_schedule *schedule, const char *style, char *const word[3]) MD_CHECKED;
/* Finds the first sample from `step` on. To call after `start` is set. */
void md_schedule_begin(md_schedule *schedule, int64_t step);
/* The same, if the sample that is due was missed: the present average begins anew. */
void md_schedule_catch_up(md_schedule *schedule, int64_t step);
/* The step >= `step` of the next sample. */
int64_t md_schedule_due(const md_schedule *schedule, int64_t step);
/* Counts the sample of `step`. true: it was the last one of an average. */
bool md_schedule_count(md_schedule *schedule, int64_t step);
void md_schedule_walk(md_schedule *schedule, md_fix_state *state);

typedef struct md_running {
  enum { MD_RUNNING_ONE, MD_RUNNING_ALL, MD_RUNNING_WINDOW } kind;
  int64_t window; /* averages */
  int64_t n;      /* numbers of an average */
  int64_t norm;   /* averages in the total */
  int64_t added;  /* averages in all */
  double *total;  /* [n] their sum */
  double *last;   /* [window][n] the last averages, for a window */
} md_running;

/* Reads the value of the keyword `ave`: one, running or window M, from words[*at] on, and moves *at past it. */
md_status md_running_read(md_running *running, const char *style, const md_words *words, int *at) MD_CHECKED;
/* Makes room for averages of n numbers. The caller ends with md_running_free. MD_RUNTIME: out of memory. */
md_status md_running_begin(md_running *running, int64_t n) MD_CHECKED;
/* Adds an average of n numbers. */
void md_running_add(md_running *running, const double *average);
void md_running_walk(md_running *running, md_fix_state *state);
void md_running_free(md_running *running);

#endif
