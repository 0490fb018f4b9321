/* How much memory is left for this program.
 *
 * The system gives out memory that it does not have, and kills the program when the program uses it. So the program
 * looks first, and refuses a run that does not fit. The least of these limits counts:
 * - the system's MemAvailable and free swap;
 * - the limits of the control groups (version 1 or 2) of the program, less the memory that is in use there and
 *   cannot be given back;
 * - the address space that `ulimit -v` leaves.
 *
 * A machine may get more memory while it runs. Where a control group allows more than the machine now has,
 * MemAvailable and swap do not count. The environment variable MYRIAD_MEMORY replaces all of this: a number of GiB
 * for all ranks of a host together, or `off` for no check.
 */
#ifndef MD_COMMON_BASE_MEMORY_H
#define MD_COMMON_BASE_MEMORY_H

#include "common/ranks/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct md_memory {
  double bytes;      /* left for one rank; infinite: unknown, or not to be checked */
  const char *limit; /* the name of the limit that counts, for messages; static */
} md_memory;

/* Finds the memory that is left for each of `ranks` ranks on this host. root: is put in front of /proc and /sys; ""
 * except in tests. MD_USAGE: MYRIAD_MEMORY is neither a positive number nor off. Not collective. */
md_status md_memory_look(const char *root, int ranks, md_memory *memory) MD_CHECKED;

/* A need of fewer bytes is not checked. */
#define MD_MEMORY_SMALL 0x1p26

/* Checks that this rank has room for `more` further particles. MD_RUNTIME: it has not; the message says for how many
 * particles there is room, and what to do. Not collective. */
md_status md_memory_for_particles(const md_comm *comm, const md_particles *particles,
                                  int64_t more) MD_CHECKED;

/* What the user can do if memory is short, for the end of a message. */
extern const char md_memory_advice[];

/* Writes an amount of memory to text, as in "22.9 MiB". Returns text. */
enum { MD_AMOUNT_CHARS = 32 };
const char *md_memory_amount(double bytes, char text[MD_AMOUNT_CHARS]);

#ifdef __cplusplus
}
#endif
#endif
