/* Chunks of particles dealt out to threads: each has a share of its own, and helps others when that is done.
 *
 * A share is a run of consecutive chunks, the same from pass to pass, so that a thread finds lists and particles in its
 * own cache. It is taken in pieces, by its thread and, once they have no share left, by others: a core may be slower than
 * others, or have other work, and would be waited for. Trade-off: what others took is in their caches; where no thread
 * lags, there is little of it. Who works on a chunk decides no result. Cost: an atomic addition a piece, in a cache line
 * that only helpers share. Reference: R. D. Blumofe and C. E. Leiserson, J. ACM 46 (1999) 720.
 */
#ifndef MD_OPENMP_CHUNKS_H
#define MD_OPENMP_CHUNKS_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct chunks {
  int threads;
  int64_t *begin; /* [threads + 1]: the share of thread t is the chunks [begin[t], begin[t + 1]) */
  struct share_progress *progress; /* [threads] */
} chunks;

/* Chunks [first, last) of the share of thread `owner`. A thread begins with {.owner = itself}. */
typedef struct piece {
  int owner;
  int64_t first, last;
} piece;

/* All chunks empty. The caller frees them, also after an error. */
md_status chunks_new(chunks *, int threads) MD_CHECKED;
void chunks_free(chunks *);

/* Shares of equal length. */
void chunks_evenly(chunks *, int64_t chunks);

/* Before every pass, outside of parallel regions. */
void chunks_restart(const chunks *);

/* Of `of` equal parts of every share, those from `first` to `last` - 1. */
typedef struct parts {
  int first, last, of;
} parts;

static const parts ALL_PARTS = {0, 1, 1};

/* The next piece, behind the one that the thread has, for a pass over those parts. False: nothing is left. Every chunk of
 * those parts is in one piece of one thread. */
bool chunks_take(const chunks *, parts, piece *) MD_CHECKED;

#endif
