/* Queues of chunks of particles, one for each thread, with work stealing.
 *
 * A chunk is a run of consecutive particles. The queue of a thread is a run of consecutive chunks, the same from
 * pass to pass, so that a thread finds its lists and particles in its own cache. A thread takes pieces of a few
 * chunks from its own queue. When that is empty, it takes pieces from the queues of the other threads: one core may
 * be slower than another, or have other work.
 *
 * Which thread works on a chunk decides no result.
 *
 * Trade-off: no thread waits while chunks are left. But the data of a stolen piece lie in the cache of another core.
 * Where no thread lags, few pieces are stolen.
 *
 * Cost: one atomic addition a piece, in a cache line that threads share only while they steal.
 *
 * Reference: R. D. Blumofe and C. E. Leiserson, J. ACM 46 (1999) 720.
 */
#ifndef MD_OPENMP_CHUNK_QUEUES_H
#define MD_OPENMP_CHUNK_QUEUES_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct chunk_queues {
  int threads;
  int64_t *begin; /* [threads + 1]: the queue of thread t holds the chunks [begin[t], begin[t + 1]) */
  struct queue_progress *progress; /* [threads] */
} chunk_queues;

/* Chunks [first, last) from the queue of thread `owner`. A thread begins with {.owner = itself}. */
typedef struct piece {
  int owner;
  int64_t first, last;
} piece;

/* Makes empty queues for `threads` threads. The caller frees them with queues_free, also after an error. MD_RUNTIME:
 * no memory. */
md_status queues_new(chunk_queues *, int threads) MD_CHECKED;
void queues_free(chunk_queues *);

/* Divides `chunks` chunks into queues of equal length. */
void queues_evenly(chunk_queues *, int64_t chunks);

/* Makes all queues full again. To be called before every pass, outside of parallel regions. */
void queues_restart(const chunk_queues *);

/* Every queue is divided into `of` equal parts; these are the parts from `first` to `last` - 1. */
typedef struct parts {
  int first, last, of;
} parts;

static const parts ALL_PARTS = {0, 1, 1};

/* Takes the next piece for a pass over those parts. *piece holds the last piece of this thread and gets the next
 * one. Returns false if no chunk is left. Every chunk of those parts is in exactly one piece of one thread. */
bool queues_take(const chunk_queues *, parts, piece *) MD_CHECKED;

#endif
