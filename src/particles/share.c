/* Equal shares of the particles; see share.h. Cost: a sparse exchange of the particles that change their rank. */
#include "src/particles/share.h"
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"

#include <stdlib.h>
#include <string.h>

/* The rank of particle k of `all`: shares of all/ranks, and one more for the first all % ranks of them. */
static int32_t rank_of(int64_t k, int64_t all, int ranks)
{
  const int64_t share = all / ranks, larger = all % ranks * (share + 1);
  return (int32_t)(k < larger ? k / (share + 1) : all % ranks + (k - larger) / share);
}

/* Packs the particles, of which the first is number `first` of `all`, and sets the ranks to which they go. */
static md_status pack(const md_particles *p, int64_t first, int64_t all, int ranks, int64_t size,
                      int32_t **to, char **records)
{
  MD_TRY(md_array_new(to, p->n + 1, sizeof **to, "ranks of particles"));
  MD_TRY(md_array_new(records, p->n + 1, (unsigned long)size, "particles to send"));
  for (int64_t i = 0; i < p->n; ++i) {
    (*to)[i] = rank_of(first + i, all, ranks);
    md_particles_pack(p, i, *records + size * i);
  }
  return MD_OK;
}

md_status md_particles_share(md_comm *comm, md_particles *p)
{
  p->nghost = 0;
  if (comm->size == 1) return MD_OK;
  const int64_t own = p->n;
  int64_t all = own, first = own, arrived = 0;
  MD_TRY(comm->reduce->sum(comm, &all, 1));
  MD_TRY(comm->reduce->exclusive_sum(comm, &first));
  const int64_t size = md_particles_bytes(p);
  int32_t *to = NULL;
  char *records = NULL;
  void *received = NULL;
  md_status status = md_comm_agree(comm, pack(p, first, all, comm->size, size, &to, &records));
  if (status == MD_OK)
    status = comm->exchange->sparse_exchange(comm, p->n, to, records, size, &received, &arrived);
  free(to);
  free(records);
  if (status == MD_OK) {
    p->n = 0;
    status = md_comm_agree(comm, md_particles_reserve(p, arrived));
  }
  for (int64_t i = 0; i < arrived && status == MD_OK; ++i)
    md_particles_unpack(p, i, (const char *)received + size * i);
  if (status == MD_OK) p->n = arrived;
  free(received);
  return status;
}
