/* Which particles are not inside given bounds: those that leave a domain, and those near its faces.
 *
 * Nearly all are inside, and they lie in the order of cells: a short block of them is tested by a loop without branches,
 * and looked at one by one only if somebody is outside. Every thread writes what it finds into a scratch array at the
 * place of its own particles, so that nothing need be counted before; then the parts are moved together.
 * Trade-off: scratch of 4 bytes a particle, of which only the pages written to are ever taken.
 * Cost: one pass over the positions along the axes asked for.
 */
#include "mpi/state.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 2, BLOCK = 64 };

/* Vectors of gcc and clang, as long as every processor has them. Of a loop that compares doubles and counts gcc makes no
 * vectors without SSE 4.1; the signs of differences, which are exact, need none of it. */
typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));
typedef int64_t bits __attribute__((vector_size(LANES * sizeof(double))));

/* Not inside, for a position that may be NaN too. */
static bool is_out(double x, double lo, double hi) { return !(x >= lo) || !(x < hi); }

/* NaN has the same sign in both differences, and so is out. */
static bool any_out(const double *x, int64_t n, double lo, double hi)
{
  const lanes low = {lo, lo}, high = {hi, hi};
  bits out = {0, 0};
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    const lanes at = *(const lanes *)(x + i);
    out |= (bits)(at - low) | ~(bits)(at - high);
  }
  bool some = out[0] < 0 || out[1] < 0;
  for (; i < n; ++i) some = some || is_out(x[i], lo, hi);
  return some;
}

/* Writes the indices to found[begin ...]; returns how many. */
static int64_t list_outside(const md_particles *p, int64_t begin, int64_t end, const bounds *b,
                            int32_t *found)
{
  int64_t at = begin;
  for (int64_t first = begin; first < end; first += BLOCK) {
    const int64_t last = first + BLOCK < end ? first + BLOCK : end;
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
