/* Taking chunks from queues; see chunk_queues.h. */
#include "openmp/chunk_queues.h"

#include <stdlib.h>

/* One cache line for each queue, so that threads do not disturb one another. */
struct queue_progress {
  _Alignas(64) int64_t taken; /* chunks taken so far from the parts of the present pass */
};

/* Chunks of a piece: few, so that all threads end at about the same time, but enough that taking a piece costs
 * little. */
enum { PIECE = 8 };

md_status queues_new(chunk_queues *s, int threads)
{
  *s = (chunk_queues){.threads = threads};
  s->begin = calloc((size_t)threads + 1, sizeof *s->begin);
  s->progress = aligned_alloc(sizeof *s->progress, (size_t)threads * sizeof *s->progress);
  if (!s->begin || !s->progress) return md_error(MD_RUNTIME, "out of memory: the OpenMP engine");
  queues_restart(s);
  return MD_OK;
}

void queues_free(chunk_queues *s)
{
  free(s->begin);
  free(s->progress);
  *s = (chunk_queues){0};
}

void queues_evenly(chunk_queues *s, int64_t chunks)
{
  for (int t = 0; t <= s->threads; ++t) s->begin[t] = chunks * t / s->threads;
}

void queues_restart(const chunk_queues *s)
{
  for (int t = 0; t < s->threads; ++t) s->progress[t].taken = 0;
}

bool queues_take(const chunk_queues *s, parts some, piece *p)
{
  for (int k = 0; k < s->threads; ++k) {
    const int64_t begin = s->begin[p->owner], n = s->begin[p->owner + 1] - begin;
    const int64_t first = begin + n * some.first / some.of, last = begin + n * some.last / some.of;
    int64_t taken;
#pragma omp atomic capture
    {
      taken = s->progress[p->owner].taken;
      s->progress[p->owner].taken += PIECE;
    }
    p->first = first + taken;
    p->last = p->first + PIECE < last ? p->first + PIECE : last;
    if (p->first < last) return true;
    p->owner = (p->owner + 1) % s->threads;
  }
  return false;
}
