/* Dealing out chunks to threads; see chunks.h. */
#include "openmp/chunks.h"

#include <stdlib.h>

/* A cache line each. */
struct share_progress {
  _Alignas(64) int64_t taken; /* chunks, of the present part */
};

/* So short that the last ones end at about the same time, so long that taking them costs nothing. */
enum { PIECE = 8 };

md_status chunks_new(chunks *s, int threads)
{
  *s = (chunks){.threads = threads};
  s->begin = calloc((size_t)threads + 1, sizeof *s->begin);
  s->progress = aligned_alloc(sizeof *s->progress, (size_t)threads * sizeof *s->progress);
  if (!s->begin || !s->progress) return md_error(MD_RUNTIME, "out of memory: the OpenMP engine");
  chunks_restart(s);
  return MD_OK;
}

void chunks_free(chunks *s)
{
  free(s->begin);
  free(s->progress);
  *s = (chunks){0};
}

void chunks_evenly(chunks *s, int64_t chunks)
{
  for (int t = 0; t <= s->threads; ++t) s->begin[t] = chunks * t / s->threads;
}

void chunks_restart(const chunks *s)
{
  for (int t = 0; t < s->threads; ++t) s->progress[t].taken = 0;
}

bool chunks_take(const chunks *s, parts some, piece *p)
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
