/* An outbox: records for other ranks, which are collected one by one and leave in one sparse exchange (exchange.h).
 *
 *   md_outbox out;
 *   MD_TRY(md_outbox_open(&out, comm, p->n, sizeof(question), "bonds of partners"));
 *   for (int64_t i = 0; i < p->n; ++i)
 *     *(question *)md_outbox_add(&out, md_home_of(comm, p->id[i])) = (question){p->id[i], comm->rank};
 *   MD_TRY(md_outbox_send(&out, &asked, &n));
 *
 * The home of an id is the rank that keeps what is known of the particle with that id, wherever the particle goes. A
 * rank that looks for a particle does not know its owner, but it knows the home.
 *
 * Trade-off: records are written once more than where the caller has an array of them already. Cost: 4 bytes a record
 * beside the records, and an agreement of all ranks (reductions.h) that all of them have the memory.
 */
#ifndef MD_COMMON_RANKS_OUTBOX_H
#define MD_COMMON_RANKS_OUTBOX_H

#include "common/ranks/comm.h"

typedef struct md_outbox {
  md_comm *comm;
  int64_t n, size; /* records that were added; bytes of a record */
  int32_t *to;     /* [n] their ranks */
  char *records;   /* [n][size] */
} md_outbox;

/* The home of an id: a hash, so that ids with a common factor have many homes too. It differs from the hash of
 * src/particles/id_table.h; otherwise all ids of a home would be in a few places of its table. Not collective. */
static inline int32_t md_home_of(const md_comm *comm, int64_t id)
{
  const uint64_t hash = (uint64_t)id * UINT64_C(0xd6e8feb86659fd93);
  return (int32_t)((hash >> 32) % (uint64_t)comm->size);
}

/* Makes room for `most` records of `size` bytes each; `size` is the same on all ranks. Collective. MD_RUNTIME, on all
 * ranks: out of memory; the message names `what`. After an error there is nothing to free. */
md_status md_outbox_open(md_outbox *out, md_comm *comm, int64_t most, int64_t size,
                         const char *what) MD_CHECKED;

/* The place of a new record for a rank, which may be this one. The caller fills it. Not collective. */
static inline void *md_outbox_add(md_outbox *out, int32_t rank)
{
  out->to[out->n] = rank;
  return out->records + out->n++ * out->size;
}

/* Sends the records and frees the outbox. received: address of the pointer that gets the *n records for this rank, in
 * any order; the caller frees them. After an error it gets NULL. Collective. The errors of the sparse exchange: after
 * one there is no agreement, because other ranks may still be in the exchange. */
md_status md_outbox_send(md_outbox *out, void *received, int64_t *n) MD_CHECKED;

#endif
