/* The sparse exchange: records go from any rank to any rank, and no rank knows in advance which ranks will send to
 * it.
 *
 * 1. Every rank sends its records in synchronous mode: such a send completes only after its receiver has begun to
 *    receive it.
 * 2. Every rank receives what comes.
 * 3. When all its own sends are complete, a rank enters a non-blocking barrier, and goes on receiving.
 * 4. When the barrier is complete, all sends of all ranks have been received, and the exchange ends.
 *
 * A fast rank may begin the next exchange while a slow one has not yet seen the end of this one. So the tags of the
 * messages alternate from exchange to exchange.
 *
 * Trade-off: a rank has messages with its partners only, and no collective count of records is needed. Memory of the
 * size of the number of ranks is only a count and a request for each rank. But the end costs a barrier.
 *
 * Cost: a message per partner, a barrier, and one copy of the records that are sent.
 *
 * Reference: T. Hoefler, C. Siebert, A. Lumsdaine, PPoPP 2010, 159 (the NBX algorithm).
 */
#include "mpi/state.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

typedef struct exchange {
  MPI_Comm comm;
  MPI_Datatype record;
  int tag;
  int64_t size;
  char *sorted;      /* the records to send, in the order of their destinations */
  int64_t *begin;    /* [ranks + 1]: the records for rank r are sorted[begin[r] .. begin[r + 1]) */
  MPI_Request *send; /* one for each other rank that gets records */
  int sends;
  char *received;
  int64_t count, capacity;
} exchange;

/* Copies the records into the order of their destinations (a counting sort). */
static md_status sort_records(exchange *d, int ranks, int64_t n, const int32_t *to, const char *records)
{
  MD_TRY(md_array_new_zero(&d->begin, ranks + 1, sizeof *d->begin, "counts of records to send"));
  MD_TRY(md_array_new(&d->sorted, n, (unsigned long)d->size, "records to send"));
  MD_TRY(md_array_new(&d->send, ranks, sizeof(MPI_Request), "requests"));
  for (int64_t k = 0; k < n; ++k) ++d->begin[to[k] + 1];
  for (int r = 0; r < ranks; ++r) d->begin[r + 1] += d->begin[r];
  for (int64_t k = 0; k < n; ++k)
    memcpy(d->sorted + d->size * d->begin[to[k]]++, records + d->size * k, (size_t)d->size);
  for (int r = ranks; r > 0; --r) d->begin[r] = d->begin[r - 1];
  d->begin[0] = 0;
  return MD_OK;
}

/* Makes room for `more` records after the received ones. */
static md_status reserve(exchange *d, int64_t more)
{
  if (d->count + more <= d->capacity) return MD_OK;
  const int64_t capacity = 2 * d->capacity > d->count + more ? 2 * d->capacity : d->count + more;
  char *larger;
  MD_TRY(md_array_new(&larger, capacity, (unsigned long)d->size, "received records"));
  if (d->count > 0) memcpy(larger, d->received, (size_t)(d->count * d->size));
  free(d->received);
  d->received = larger;
  d->capacity = capacity;
  return MD_OK;
}

/* Starts the sends. Records of a rank for itself are copied. */
static md_status send_all(exchange *d, int rank, int ranks)
{
  for (int r = 0; r < ranks; ++r) {
    const int64_t n = d->begin[r + 1] - d->begin[r];
    const char *from = d->sorted + d->size * d->begin[r];
    if (n == 0) continue;
    if (n > INT32_MAX)
      return md_error(MD_RUNTIME, "%lld records to one rank are too many; use more ranks", (long long)n);
    if (r != rank) {
      MD_MPI(MPI_Issend(from, (int)n, d->record, r, d->tag, d->comm, &d->send[d->sends]));
      ++d->sends;
      continue;
    }
    MD_TRY(reserve(d, n));
    memcpy(d->received + d->size * d->count, from, (size_t)(n * d->size));
    d->count += n;
  }
  return MD_OK;
}

/* Receives one message, if one has come. *any: whether one had. */
static md_status receive_one(exchange *d, bool *any)
{
  int there, n;
  MPI_Status about;
  MPI_Message message;
  MD_MPI(MPI_Improbe(MPI_ANY_SOURCE, d->tag, d->comm, &there, &message, &about));
  *any = there != 0;
  if (!there) return MD_OK;
  MD_MPI(MPI_Get_count(&about, d->record, &n));
  MD_TRY(reserve(d, n));
  MD_MPI(MPI_Mrecv(d->received + d->size * d->count, n, d->record, &message, MPI_STATUS_IGNORE));
  d->count += n;
  return MD_OK;
}

static md_status receive_all(exchange *d)
{
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool entered = false;
  for (int finished = 0; !finished;) {
    bool any = false;
    MD_TRY(receive_one(d, &any));
    if (any) continue;
    if (entered) {
      MD_MPI(MPI_Test(&barrier, &finished, MPI_STATUS_IGNORE));
    } else {
      int sent;
      MD_MPI(MPI_Testall(d->sends, d->send, &sent, MPI_STATUSES_IGNORE));
      if (sent) {
        MD_MPI(MPI_Ibarrier(d->comm, &barrier));
        entered = true;
      }
    }
    if (!finished) sched_yield();
  }
  return MD_OK;
}

md_status md_mpi_sparse_exchange(md_comm *c, int64_t n, const int32_t *to, const void *records, int64_t size,
                                 void **received, int64_t *count)
{
  mpi_state *s = mpi_state_of(c);
  if (size > INT32_MAX) return md_error(MD_RUNTIME, "records of %lld bytes are too long", (long long)size);
  exchange d = {.comm = s->exchange, .tag = (int)(s->exchanges++ & 1u), .size = size};
  MD_MPI(MPI_Type_contiguous((int)size, MPI_BYTE, &d.record));
  MD_MPI(MPI_Type_commit(&d.record));
  md_status status = sort_records(&d, c->size, n, to, records);
  if (status == MD_OK) status = send_all(&d, c->rank, c->size);
  if (status == MD_OK) status = receive_all(&d);
  if (status == MD_OK && !d.received) status = md_array_new(&d.received, 0, 1, "received records");
  MPI_Type_free(&d.record);
  free(d.begin);
  if (status != MD_OK) {
    /* MPI may still read the records of started sends, so that they must stay. The program ends anyway. */
    if (d.sends == 0) free(d.sorted);
    free(d.send);
    free(d.received);
    return status;
  }
  free(d.sorted);
  free(d.send);
  *received = d.received;
  *count = d.count;
  return MD_OK;
}
