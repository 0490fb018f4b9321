/* Reductions over ranks, agreement on errors, and the end of all ranks.
 *
 * Sums are of integers and maxima are of doubles. Both are exact, so that the order in which MPI combines the ranks
 * changes no result.
 *
 * Agreement. A rank may have an error that the other ranks do not have. It cannot know in which call the other ranks
 * are.
 * 1. The rank with the error waits for the others, on an MPI communicator that serves agreements alone. So its
 *    messages cannot be taken for messages of another call.
 * 2. If all ranks come, they agree: all get the worst status and one message.
 * 3. If they do not come within some seconds, the rank keeps its own message and is `alone`. The program prints this
 *    message, and destroy ends all ranks (MPI_Abort).
 *
 * Lower ranks wait for a shorter time. So most often only the first rank to give up prints its message.
 *
 * The reduction for which a rank waits is that of the statuses. It ends when all ranks have come, as a barrier does.
 *
 * Cost: one reduction if all is well; with an error, three more reductions and a broadcast of the message.
 */
#include "mpi/state.h"

#include <string.h>
#include <time.h>

enum { MESSAGE = 2048 };

md_status md_mpi_error(const char *call, int code)
{
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return md_error(MD_RUNTIME, "%.*s: %s", (int)strcspn(call, "("), call, text);
}

md_status md_mpi_sum(md_comm *c, int64_t *values, int n)
{
  MD_MPI(MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_INT64_T, MPI_SUM, mpi_state_of(c)->ranks));
  return MD_OK;
}

md_status md_mpi_max(md_comm *c, double *values, int n)
{
  MD_MPI(MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE, MPI_MAX, mpi_state_of(c)->ranks));
  return MD_OK;
}

static md_status max_begin(md_comm *c, const double *values, int n)
{
  mpi_state *s = mpi_state_of(c);
  memcpy(s->maxima, values, (size_t)n * sizeof *values);
  s->nmaxima = n;
  MD_MPI(MPI_Iallreduce(MPI_IN_PLACE, s->maxima, n, MPI_DOUBLE, MPI_MAX, s->ranks, &s->maximum));
  return MD_OK;
}

static md_status max_next(md_comm *c, bool wait, double *values, bool *done)
{
  mpi_state *s = mpi_state_of(c);
  int here = 1;
  if (wait)
    MD_MPI(MPI_Wait(&s->maximum, MPI_STATUS_IGNORE));
  else
    MD_MPI(MPI_Test(&s->maximum, &here, MPI_STATUS_IGNORE));
  *done = here != 0;
  if (*done) memcpy(values, s->maxima, (size_t)s->nmaxima * sizeof *values);
  return MD_OK;
}

md_status md_mpi_exclusive_sum(md_comm *c, int64_t *value)
{
  const int64_t mine = *value;
  MD_MPI(MPI_Scan(MPI_IN_PLACE, value, 1, MPI_INT64_T, MPI_SUM, mpi_state_of(c)->ranks));
  *value -= mine;
  return MD_OK;
}

/* All ranks get `worst`, the worst status of all, and one message. Of the ranks with this status, the message about the
 * smallest particle ids is taken, and of equal ones that of the lowest rank. */
static md_status agree_on(MPI_Comm ranks, int rank, md_status status, int worst)
{
  if (worst == (int)MD_OK) return MD_OK;
  int64_t about[3] = {INT64_MAX, INT64_MAX, INT64_MAX};
  if ((int)status == worst) {
    md_error_particles(&about[0], &about[1]);
    about[2] = rank;
  }
  int64_t least[3];
  bool candidate = (int)status == worst;
  for (int k = 0; k < 3; ++k) {
    least[k] = candidate ? about[k] : INT64_MAX;
    MD_MPI(MPI_Allreduce(MPI_IN_PLACE, &least[k], 1, MPI_INT64_T, MPI_MIN, ranks));
    candidate = candidate && about[k] == least[k];
  }
  char text[MESSAGE] = "";
  if (candidate) strncpy(text, md_error_text(), sizeof text - 1);
  MD_MPI(MPI_Bcast(text, sizeof text, MPI_CHAR, (int)least[2], ranks));
  const md_status agreed = md_error((md_status)worst, "%s", text);
  md_error_about(least[0], least[1]);
  return agreed;
}

/* Waits for all ranks in a reduction of their statuses to s->worst. A rank without an error waits without a limit. A
 * rank with an error gives up after 2 to 10 s, the longer the higher the rank is. *all_here: false if it gave up. */
static md_status wait_for_all(mpi_state *s, MPI_Comm ranks, int rank, md_status status, bool *all_here)
{
  const double patience = 2.0 + 0.25 * (rank < 32 ? rank : 32), began = MPI_Wtime();
  const struct timespec nap = {.tv_nsec = 1000000};
  MPI_Request reduction;
  *all_here = true;
  s->worst = (int)status;
  MD_MPI(MPI_Iallreduce(MPI_IN_PLACE, &s->worst, 1, MPI_INT, MPI_MAX, ranks, &reduction));
  if (status == MD_OK) {
    MD_MPI(MPI_Wait(&reduction, MPI_STATUS_IGNORE));
    return MD_OK;
  }
  for (;;) {
    int here;
    MD_MPI(MPI_Test(&reduction, &here, MPI_STATUS_IGNORE));
    *all_here = here != 0;
    if (here || MPI_Wtime() - began > patience) return MD_OK;
    nanosleep(&nap, NULL);
  }
}

static md_status meet_and_agree(md_comm *c, MPI_Comm ranks, md_status status)
{
  mpi_state *s = mpi_state_of(c);
  bool all_here;
  if (s->alone) return status;
  MD_TRY(wait_for_all(s, ranks, c->rank, status, &all_here));
  if (all_here) return agree_on(ranks, c->rank, status, s->worst);
  s->alone = true;
  s->status = status;
  return status;
}

static md_status agree(md_comm *c, md_status status)
{
  return meet_and_agree(c, mpi_state_of(c)->agreement, status);
}

md_status md_mpi_agree_surely(md_comm *c, md_status status)
{
  MPI_Comm ranks = mpi_state_of(c)->ranks;
  int worst = (int)status;
  MD_MPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, ranks));
  return agree_on(ranks, c->rank, status, worst);
}

md_status md_mpi_finalise(md_comm *c, md_status status, bool *alone)
{
  const md_status agreed = meet_and_agree(c, mpi_state_of(c)->last, status);
  *alone = mpi_state_of(c)->alone;
  return agreed;
}

const md_comm_reductions md_mpi_reductions = {.sum = md_mpi_sum,
                                              .max = md_mpi_max,
                                              .max_begin = max_begin,
                                              .max_next = max_next,
                                              .exclusive_sum = md_mpi_exclusive_sum,
                                              .agree = agree};
