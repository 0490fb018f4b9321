/* How much memory there still is for this program, so that what does not fit is refused before it is asked for: the
 * system gives memory that it does not have, and ends the program when it is used.
 *
 * What counts: the system's MemAvailable and free swap; the limits of the control groups (version 1 or 2) that the
 * program is in, less what is in use there and cannot be given back; and the address space that `ulimit -v` leaves. A
 * machine may get more memory while it runs: where a control group allows more than the machine now has, its limit
 * counts alone. The environment variable MYRIAD_MEMORY replaces all of this: GiB for all ranks of a host together, or
 * `off` for no check.
 */
#ifndef MD_COMMON_BASE_MEMORY_H
#define MD_COMMON_BASE_MEMORY_H

#include "common/ranks/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct md_memory {
  double bytes;      /* for one rank; infinite: unknown, or not to be checked */
  const char *limit; /* what sets it, for messages; static */
} md_memory;

/* For each of `ranks` on this host. root: put in front of /proc and /sys, "" but for tests. MD_USAGE: MYRIAD_MEMORY is
 * neither a number nor off. Not collective. */
md_status md_memory_look(const char *root, int ranks, md_memory *memory) MD_CHECKED;

/* Less than that is not worth a look. */
#define MD_MEMORY_SMALL 0x1p26

/* MD_RUNTIME if this rank has no room for `more` further particles, with how many there is room for, and what to do.
 * Not collective. */
md_status md_memory_for_particles(const md_comm *comm, const md_particles *particles,
                                  int64_t more) MD_CHECKED;

/* What to do without enough memory, for the end of a message. */
extern const char md_memory_advice[];

/* "22.9 MiB"; returns text. */
enum { MD_AMOUNT_CHARS = 32 };
const char *md_memory_amount(double bytes, char text[MD_AMOUNT_CHARS]);

#ifdef __cplusplus
}
#endif
#endif
