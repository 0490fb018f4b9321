/* Dealing out chunks to threads; see shares.h. */
#include "openmp/shares.h"

#include <stdlib.h>

/* A cache line each. */
struct share_progress {
  _Alignas(64) int64_t taken; /* chunks, of the present part */
};

/* So short that the last ones end at about the same time, so long that taking them costs nothing. */
enum { PIECE = 8 };

md_status shares_new(shares *s, int threads)
{
  *s = (shares){.threads = threads};
  s->begin = calloc((size_t)threads + 1, sizeof *s->begin);
  s->progress = aligned_alloc(sizeof *s->progress, (size_t)threads * sizeof *s->progress);
  if (!s->begin || !s->progress) return md_error(MD_RUNTIME, "out of memory: the OpenMP engine");
  shares_restart(s);
  return MD_OK;
}

void shares_free(shares *s)
{
  free(s->begin);
  free(s->progress);
  *s = (shares){0};
}

void shares_evenly(shares *s, int64_t chunks)
{
  for (int t = 0; t <= s->threads; ++t) s->begin[t] = chunks * t / s->threads;
}

void shares_restart(const shares *s)
{
  for (int t = 0; t < s->threads; ++t) s->progress[t].taken = 0;
}

bool shares_take(const shares *s, parts some, piece *p)
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
