/* Equal shares of the particles; see share.h. Cost: a sparse exchange of the particles that change their rank. */
#include "src/particles/share.h"
#include "common/ranks/outbox.h"
#include "common/ranks/reductions.h"

#include <stdlib.h>

/* The rank of particle k of `all`: shares of all/ranks, and one more for the first all % ranks of them. */
static int32_t rank_of(int64_t k, int64_t all, int ranks)
{
  const int64_t share = all / ranks, larger = all % ranks * (share + 1);
  return (int32_t)(k < larger ? k / (share + 1) : all % ranks + (k - larger) / share);
}

/* Sends the particles, of which the first is number `first` of `all`, to the ranks of their shares. */
static md_status send(md_comm *comm, const md_particles *p, int64_t first, int64_t all, char **received,
                      int64_t *n)
{
  md_outbox out;
  MD_TRY(md_outbox_open(&out, comm, p->n, md_particles_bytes(p), "particles to send"));
  for (int64_t i = 0; i < p->n; ++i)
    md_particles_pack(p, i, md_outbox_add(&out, rank_of(first + i, all, comm->size)));
  return md_outbox_send(&out, received, n);
}

/* Puts n records in the place of the particles, and frees them. */
static md_status take(md_comm *comm, md_particles *p, char *received, int64_t n)
{
  const int64_t size = md_particles_bytes(p);
  p->n = 0;
  const md_status status = md_comm_agree(comm, md_particles_reserve(p, n));
  for (int64_t i = 0; i < n && status == MD_OK; ++i) md_particles_unpack(p, i, received + size * i);
  if (status == MD_OK) p->n = n;
  free(received);
  return status;
}

md_status md_particles_share(md_comm *comm, md_particles *p)
{
  p->nghost = 0;
  if (comm->size == 1) return MD_OK;
  const int64_t own = p->n;
  int64_t all = own, first = own, arrived;
  char *received;
  MD_TRY(comm->reduce->sum(comm, &all, 1));
  MD_TRY(comm->reduce->exclusive_sum(comm, &first));
  MD_TRY(send(comm, p, first, all, &received, &arrived));
  return take(comm, p, received, arrived);
}

md_status md_particles_gather(md_comm *comm, md_particles *p)
{
  md_outbox out;
  char *received;
  int64_t arrived;
  p->nghost = 0;
  if (comm->size == 1) return MD_OK;
  MD_TRY(md_outbox_open(&out, comm, p->n * comm->size, md_particles_bytes(p), "particles to send"));
  for (int64_t i = 0; i < p->n; ++i)
    for (int rank = 0; rank < comm->size; ++rank) md_particles_pack(p, i, md_outbox_add(&out, rank));
  MD_TRY(md_outbox_send(&out, &received, &arrived));
  return take(comm, p, received, arrived);
}
