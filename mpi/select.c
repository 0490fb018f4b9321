/* Finding particles that are not inside given bounds: migrants, and particles near the faces of a domain.
 *
 * Particles lie in cell order, so that particles outside the bounds come in groups, and most blocks have none.
 * 1. A loop without branches tests a block of consecutive particles.
 * 2. Only if a particle of the block is outside, the particles are tested one by one.
 * 3. Each thread writes the indices that it finds into a scratch array, at the places of its own particles. So no
 *    count is needed before.
 * 4. At the end the parts of the threads are moved together.
 *
 * Trade-off: one pass over the positions is enough. But the scratch array takes 4 bytes a particle; the system gives
 * memory only for the pages that are written to.
 *
 * Cost: one pass over the positions along the axes of the bounds.
 */
#include "mpi/state.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { SELECT_LANES = 2, SELECT_BLOCK = 64 };

/* Vector types of gcc and clang, of a length that every processor has. They are written out because gcc makes no
 * vector code without SSE 4.1 from a loop that compares doubles and counts. */
typedef double lanes
    __attribute__((vector_size(SELECT_LANES * sizeof(double)), aligned(sizeof(double)), may_alias));
typedef int64_t bits __attribute__((vector_size(SELECT_LANES * sizeof(double))));

/* Whether x is not inside. NaN is not inside. */
static bool is_out(double x, double lo, double hi) { return !(x >= lo) || !(x < hi); }

/* Whether any of n positions is not inside. */
static bool any_out(const double *x, int64_t n, double lo, double hi)
{
  const lanes low = {lo, lo}, high = {hi, hi};
  bits out = {0, 0};
  int64_t i = 0;
  for (; i + SELECT_LANES <= n; i += SELECT_LANES) {
    const lanes at = *(const lanes *)(x + i);
    out |= ~((bits)(at >= low) & (bits)(at < high));
  }
  bool some = out[0] < 0 || out[1] < 0;
  for (; i < n; ++i) some = some || is_out(x[i], lo, hi);
  return some;
}

/* Writes the indices of the particles of [begin, end) that are not inside to found[begin ...]. Returns how many. */
static int64_t list_outside(const md_particles *p, int64_t begin, int64_t end, const bounds *b,
                            int32_t *found)
{
  int64_t at = begin;
  for (int64_t first = begin; first < end; first += SELECT_BLOCK) {
    const int64_t last = first + SELECT_BLOCK < end ? first + SELECT_BLOCK : end;
    bool some = false;
    for (int d = b->first; d < b->last; ++d)
      some = some || any_out(p->x[d] + first, last - first, b->lo[d], b->hi[d]);
    if (!some) continue;
    for (int64_t i = first; i < last; ++i) {
      bool any = false;
      for (int d = b->first; d < b->last; ++d) any = any || is_out(p->x[d][i], b->lo[d], b->hi[d]);
      if (any) found[at++] = (int32_t)i;
    }
  }
  return at - begin;
}

md_status md_mpi_outside(mpi_state *s, const md_particles *p, int64_t n, const bounds *b, int64_t *count)
{
  const int parts = omp_get_max_threads();
  int64_t *found;
  if (n > s->found_capacity) {
    s->found_capacity = n + n / 8;
    free(s->found);
    s->found = NULL;
    MD_TRY(md_array_new(&s->found, s->found_capacity, sizeof *s->found, "particles beyond a face"));
  }
  MD_TRY(md_array_new_zero(&found, parts, sizeof *found, "counts of particles beyond a face"));
#pragma omp parallel for schedule(static, 1)
  for (int t = 0; t < parts; ++t) found[t] = list_outside(p, n * t / parts, n * (t + 1) / parts, b, s->found);
  *count = found[0];
  for (int t = 1; t < parts; ++t) {
    if (found[t] > 0)
      memmove(s->found + *count, s->found + n * t / parts, (size_t)found[t] * sizeof *s->found);
    *count += found[t];
  }
  free(found);
  return MD_OK;
}
