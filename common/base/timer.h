/* Wall-clock time by phase. Each kind of communication is a phase of its own, and the log adds them up to `Comm`. */
#ifndef MD_COMMON_BASE_TIMER_H
#define MD_COMMON_BASE_TIMER_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of communication. Their times include waiting for other ranks.
 *   halo     new positions of ghosts, in a step
 *   borders  new ghosts, at a rebin
 *   migrate  particles that go to their owners
 *   reduce   reductions and agreements of all ranks
 *   balance  new cuts between domains
 * MD_PHASE(symbol, name in the log) */
#define MD_COMM_PHASES(MD_PHASE)                                                                             \
  MD_PHASE(HALO, "halo")                                                                                     \
  MD_PHASE(BORDERS, "borders")                                                                               \
  MD_PHASE(MIGRATE, "migrate")                                                                               \
  MD_PHASE(REDUCE, "reduce")                                                                                 \
  MD_PHASE(BALANCE, "balance")

/* All phases, in the order of the log. */
#define MD_PHASES(MD_PHASE)                                                                                  \
  MD_PHASE(BIN, "Bin")                                                                                       \
  MD_PHASE(SORT, "Sort")                                                                                     \
  MD_PHASE(LIST, "List")                                                                                     \
  MD_PHASE(FORCE, "Force")                                                                                   \
  MD_PHASE(MOVE, "Move")                                                                                     \
  MD_COMM_PHASES(MD_PHASE)                                                                                   \
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

/* Name of a phase as the log prints it. Static. */
const char *md_phase_name(md_phase phase);

/* Whether a phase is a kind of communication. These phases stand together in md_phase. */
bool md_phase_is_comm(md_phase phase);

/* Adds the time since *mark to a phase, and sets *mark to the present time. *mark is a time of md_time. */
void md_timers_lap(md_timers *timers, md_phase phase, double *mark);

#ifdef __cplusplus
}
#endif
#endif
