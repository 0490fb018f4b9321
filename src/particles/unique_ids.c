/* Ids that occur twice; see unique_ids.h.
 *
 * A table of bits finds them, because ids are usually 1 to N. Sparse ids are sorted instead. With several ranks, each
 * id goes to its home (common/ranks/outbox.h).
 *
 * Cost: an eighth of a byte for each id up to the largest one, or a sort.
 */
#include "src/particles/unique_ids.h"
#include "common/ranks/exchange.h"
#include "common/ranks/outbox.h"
#include "common/ranks/reductions.h"

#include <stdlib.h>

/* Ids in [1, most], with a table of bits. */
static md_status find_by_bits(const int64_t *id, int64_t n, int64_t most, int64_t *twice)
{
  uint64_t *seen;
  int64_t found = 0;
  MD_TRY(md_array_new_zero(&seen, most / 64 + 1, sizeof *seen, "checking ids"));
#pragma omp parallel for schedule(static) reduction(max : found)
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t bit = UINT64_C(1) << (id[i] & 63);
    uint64_t before;
#pragma omp atomic capture
    {
      before = seen[id[i] >> 6];
      seen[id[i] >> 6] |= bit;
    }
    if ((before & bit) && id[i] > found) found = id[i];
  }
  free(seen);
  *twice = found;
  return MD_OK;
}

static md_status find_by_sort(const int64_t *id, int64_t n, int64_t *twice)
{
  int32_t *order;
  const md_particles view = {.n = n, .id = (int64_t *)(uintptr_t)id};
  MD_TRY(md_particles_order_by_id(&view, &order));
  for (int64_t k = n - 1; k > 0 && *twice == 0; --k)
    if (id[order[k]] == id[order[k - 1]]) *twice = id[order[k]];
  free(order);
  return MD_OK;
}

static md_status find_here(const int64_t *id, int64_t n, int64_t *twice)
{
  enum { BITS_AN_ID = 64 };
  int64_t most = 0;
#pragma omp parallel for schedule(static) reduction(max : most)
  for (int64_t i = 0; i < n; ++i) most = id[i] > most ? id[i] : most;
  *twice = 0;
  return most / BITS_AN_ID <= n ? find_by_bits(id, n, most, twice) : find_by_sort(id, n, twice);
}

md_status md_ids_find_twice(md_comm *comm, const md_particles *p, int64_t *twice)
{
  if (comm->size == 1) return find_here(p->id, p->n, twice);
  int32_t *to = NULL;
  void *received = NULL;
  int64_t count = 0, *found = NULL;
  md_status status = md_comm_agree(comm, md_array_new(&to, p->n, sizeof *to, "checking ids"));
  if (status == MD_OK)
    status = md_comm_agree(comm, md_array_new_zero(&found, comm->size, sizeof *found, "ids"));
  if (status == MD_OK) {
    for (int64_t i = 0; i < p->n; ++i) to[i] = md_home_of(comm, p->id[i]);
    status = comm->exchange->sparse_exchange(comm, p->n, to, p->id, sizeof *p->id, &received, &count);
  }
  if (status == MD_OK) status = md_comm_agree(comm, find_here(received, count, &found[comm->rank]));
  if (status == MD_OK) status = comm->reduce->sum(comm, found, comm->size);
  *twice = 0;
  for (int rank = 0; status == MD_OK && rank < comm->size; ++rank)
    if (found[rank] > *twice) *twice = found[rank];
  free(found);
  free(received);
  free(to);
  return status;
}
