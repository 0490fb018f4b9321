/* The ring of ranks: each rank sends a message to the rank above it, and receives one from the rank below it. The last
 * rank is below the first one.
 *
 * Trade-off: after P - 1 such messages each rank has seen what every rank had, with memory for two messages. But a
 * message passes through every rank in between.
 */
#include "mpi/state.h"

#include <limits.h>

md_status md_mpi_ring_begin(md_comm *c, const void *send, void *receive, int64_t bytes)
{
  mpi_state *s = mpi_state_of(c);
  const int above = (c->rank + 1) % c->size, below = (c->rank + c->size - 1) % c->size;
  const int64_t words = bytes / (int64_t)sizeof(double);
  if (words > INT_MAX)
    return md_error(MD_RUNTIME,
                    "a message of %lld bytes around the ring of ranks is too long: use more ranks",
                    (long long)bytes);
  MD_MPI(MPI_Irecv(receive, (int)words, MPI_DOUBLE, below, 0, s->halo, &s->ring[0]));
  MD_MPI(MPI_Isend(send, (int)words, MPI_DOUBLE, above, 0, s->halo, &s->ring[1]));
  return MD_OK;
}

md_status md_mpi_ring_next(md_comm *c, bool wait, bool *done)
{
  mpi_state *s = mpi_state_of(c);
  int flag = 1;
  if (wait)
    MD_MPI(MPI_Waitall(2, s->ring, MPI_STATUSES_IGNORE));
  else
    MD_MPI(MPI_Testall(2, s->ring, &flag, MPI_STATUSES_IGNORE));
  *done = flag != 0;
  return MD_OK;
}
