/* Wall-clock time by phase; see timer.h. */
#include "common/base/timer.h"

#include <time.h>

double md_time(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char *md_phase_name(md_phase phase)
{
  static const char *const name[] = {
#define MD_PHASE(symbol, label) label,
      MD_PHASES(MD_PHASE)
#undef MD_PHASE
  };
  return name[phase];
}

bool md_phase_is_comm(md_phase phase)
{
  switch (phase) {
#define MD_PHASE(symbol, label) case MD_PHASE_##symbol:
    MD_COMM_PHASES(MD_PHASE)
#undef MD_PHASE
    return true;
  default: return false;
  }
}

void md_timers_lap(md_timers *timers, md_phase phase, double *mark)
{
  const double now = md_time();
  timers->seconds[phase] += now - *mark;
  *mark = now;
}
