/* Reductions over ranks, and agreement on a status: the part `reduce` of the communicator (comm.h).
 *
 * Every function is collective unless it says "not collective" (comm.h).
 */
#ifndef MD_COMMON_RANKS_REDUCTIONS_H
#define MD_COMMON_RANKS_REDUCTIONS_H

#include "common/ranks/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MD_MAX_VALUES = 4 }; /* the most values of a max_begin */

struct md_comm_reductions {
  /* In place, the sums and the maxima over ranks of each of n values. Every rank gets the same. */
  md_status (*sum)(md_comm *, int64_t *values, int n) MD_CHECKED;
  md_status (*max)(md_comm *, double *values, int n) MD_CHECKED;
  /* max_begin starts a maximum of n <= MD_MAX_VALUES values and copies them. Only one may be under way at a time.
   * max_next says in *done whether the maxima are there, and with `wait` waits for them. If they are there, it
   * writes them to values[0 .. n). max_next is not collective, but every rank must call it until it is done. */
  md_status (*max_begin)(md_comm *, const double *values, int n) MD_CHECKED;
  md_status (*max_next)(md_comm *, bool wait, double *values, bool *done) MD_CHECKED;
  /* The exclusive sum: *value becomes the sum of the values of all lower ranks (0 on rank 0). */
  md_status (*exclusive_sum)(md_comm *, int64_t *value) MD_CHECKED;
  /* Agrees on a status: every rank gives its own, and every rank gets the worst one. If that is an error, every rank
   * also gets the same message: of the messages with the worst status, the one about the smallest particles
   * (md_error_about). A rank with an error waits for the others a few seconds only, because they may be in another
   * call, in which they wait for this rank. If they do not come, the rank keeps its own status and message, and
   * finalise says that it is alone. */
  md_status (*agree)(md_comm *, md_status status) MD_CHECKED;
};

/* The same as comm->reduce->agree, and the way to call it. Compilers and analysers see here that the result is an error
 * if the rank's own status is one. */
static inline MD_CHECKED md_status md_comm_agree(md_comm *comm, md_status own)
{
  const md_status agreed = comm->reduce->agree(comm, own);
  return agreed != MD_OK ? agreed : own;
}

#ifdef __cplusplus
}
#endif
#endif
