/* New ids without gaps; see delete_atoms.h.
 *
 * The ids are taken in windows, from the smallest on. Every rank sets a bit for each of its ids in the window. The sum
 * of these words over ranks has the bits of all particles, as each id is there once. The new id of a particle is the
 * number of bits before its own, with those of the windows before. Windows without ids are left out.
 *
 * Memory: 8 MiB, and 4 bytes for each particle. Cost: the ids in order, and a sum of 8 MiB over ranks for every
 * 67 million ids.
 */
#include "common/ranks/reductions.h"
#include "src/edit/delete_atoms.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 1 << 20 };

/* The smallest id that a rank has not numbered yet. The reduction works in double, so that each half of an id is
 * reduced by itself. INT64_MAX: there is none. */
static md_status smallest_id(md_comm *comm, int64_t own, int64_t *least)
{
  double high = -(double)(own >> 32);
  MD_TRY(comm->reduce->max(comm, &high, 1));
  double low = -(double)(own >> 32) == high ? -(double)(own & INT64_C(0xffffffff)) : -(double)0x1p32;
  MD_TRY(comm->reduce->max(comm, &low, 1));
  *least = ((int64_t)-high << 32) | (int64_t)-low;
  return MD_OK;
}

/* The particles of a rank in the order of ids, of which `done` have their new id. */
typedef struct numbering {
  md_particles *p;
  int32_t *order;
  int64_t done, given; /* particles of this rank that are done; new ids that were given on all ranks */
  int64_t words;       /* of a window */
  int64_t *bits;
} numbering;

static int64_t next_id(const numbering *n)
{
  return n->done < n->p->n ? n->p->id[n->order[n->done]] : INT64_MAX;
}

/* Gives new ids to the particles of the window that begins with the id `first`. */
static md_status number_window(md_comm *comm, numbering *n, int64_t first)
{
  const int64_t from = n->done, width = 64 * n->words;
  memset(n->bits, 0, (size_t)n->words * sizeof *n->bits);
  for (; n->done < n->p->n && n->p->id[n->order[n->done]] - first < width; ++n->done) {
    const int64_t number = n->p->id[n->order[n->done]] - first;
    n->bits[number >> 6] |= (int64_t)(UINT64_C(1) << (number & 63));
  }
  MD_TRY(comm->reduce->sum(comm, n->bits, (int)n->words));
  int64_t word = 0, before = n->given;
  for (int64_t k = from; k < n->done; ++k) {
    const int64_t number = n->p->id[n->order[k]] - first;
    for (; word < number >> 6; ++word) before += __builtin_popcountll((uint64_t)n->bits[word]);
    const uint64_t lower = (uint64_t)n->bits[word] & ((UINT64_C(1) << (number & 63)) - 1);
    n->p->id[n->order[k]] = before + __builtin_popcountll(lower) + 1;
  }
  for (; word < n->words; ++word) before += __builtin_popcountll((uint64_t)n->bits[word]);
  n->given = before;
  return MD_OK;
}

md_status md_delete_compress(md_sim *sim)
{
  md_comm *comm = sim->comm;
  numbering n = {.p = &sim->particles};
  int64_t total = sim->particles.n, first = 0;
  MD_TRY(comm->reduce->sum(comm, &total, 1));
  n.words = total / 16 + 64 < WORDS ? total / 16 + 64 : WORDS;
  md_status status = md_particles_order_by_id(n.p, &n.order);
  if (status == MD_OK) status = md_array_new(&n.bits, n.words, sizeof *n.bits, "new ids");
  status = md_comm_agree(comm, status);
  while (status == MD_OK) {
    status = smallest_id(comm, next_id(&n), &first);
    if (status != MD_OK || first == INT64_MAX) break;
    status = number_window(comm, &n, first);
  }
  free(n.order);
  free(n.bits);
  return status;
}
