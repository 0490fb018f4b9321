/* Wall-clock time by phase. */
#ifndef MD_COMMON_TIMER_H
#define MD_COMMON_TIMER_H

#ifdef __cplusplus
extern "C" {
#endif

/* MD_PHASE(symbol, name in the log) */
#define MD_PHASES(MD_PHASE)                                                                                  \
  MD_PHASE(BIN, "Bin")                                                                                       \
  MD_PHASE(SORT, "Sort")                                                                                     \
  MD_PHASE(LIST, "List")                                                                                     \
  MD_PHASE(FORCE, "Force")                                                                                   \
  MD_PHASE(MOVE, "Move")                                                                                     \
  MD_PHASE(COMM, "Comm")                                                                                     \
  MD_PHASE(OUTPUT, "Output")

typedef enum md_phase {
#define MD_PHASE(symbol, name) MD_PHASE_##symbol,
  MD_PHASES(MD_PHASE)
#undef MD_PHASE
      MD_PHASE_COUNT
} md_phase;

typedef struct md_timers {
  double seconds[MD_PHASE_COUNT];
} md_timers;

/* Seconds of a monotonic clock. */
double md_time(void);

/* Name of a phase as the log prints it. */
const char *md_phase_name(md_phase phase);

/* Adds the time since *mark to a phase and moves *mark to now. */
void md_timers_lap(md_timers *timers, md_phase phase, double *mark);

#ifdef __cplusplus
}
#endif
#endif
