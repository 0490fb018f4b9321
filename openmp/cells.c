/* Binning and sorting by cell id; see cells.h.
 *
 * Algorithm: a stable counting sort of two levels.
 * 1. The particles are dealt into at most 1024 buckets of consecutive cells, with one histogram per thread.
 * 2. One thread counts and places the particles of a bucket, with a histogram over the bucket's cells in its cache.
 *
 * Trade-off: there are no atomics, each entry of cell_start has one writer, and the order is the same for any number
 * of threads. But each particle is touched twice. A histogram over all cells for each thread, or atomics on one
 * histogram, would cost more as soon as there are millions of cells.
 *
 * Cost: about 40 bytes of traffic a particle.
 */
#include "openmp/cells.h"
#include "common/base/timer.h"

#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS_MAX = 1024 };

cell_grid cell_grid_of(int dim, const double lo[3], const double hi[3], double width, int64_t n)
{
  cell_grid grid = {.dim = dim, .count = {1, 1, 1}, .ncell = 1};
  double limit = CELLS_A_PARTICLE * (double)n + 64.0;
  if (limit > 2.0e9) limit = 2.0e9;
  for (;;) {
    double cells = 1.0;
    for (int d = 0; d < dim; ++d) cells *= fmax(1.0, floor((hi[d] - lo[d]) / width)) + 2.0;
    if (cells <= limit || cells <= pow(3.0, dim)) break;
    width *= fmax(1.01, pow(cells / limit, 1.0 / dim));
  }
  for (int d = 0; d < dim; ++d) {
    const double inner = fmax(1.0, floor((hi[d] - lo[d]) / width));
    grid.count[d] = (int64_t)inner + 2;
    grid.lo[d] = lo[d];
    grid.width[d] = (hi[d] - lo[d]) / inner;
    grid.inverse[d] = 1.0 / grid.width[d];
    grid.ncell *= grid.count[d];
  }
  return grid;
}

/* The cell of a position along one axis, counted with the padding, and at least `inset` cells away from the grid's
 * rim. */
static inline int32_t cell_along(const cell_grid *grid, int d, double x, double inset, double last)
{
  const double c = (x - grid->lo[d]) * grid->inverse[d] + 1.0;
  /* With the comparisons in this order NaN too gets a cell on the grid. */
  const double above = c > inset ? c : inset;
  return (int32_t)(above < last ? above : last);
}

static void bin(const cell_grid *grid, double *const x[3], int64_t n, double inset, int32_t *cell)
{
  const bool flat = grid->dim == 2;
  const double *restrict x0 = x[0], *restrict x1 = x[1], *restrict x2 = flat ? x[1] : x[2];
  const int32_t nx = (int32_t)grid->count[0], ny = (int32_t)grid->count[1];
  double last[3];
  for (int d = 0; d < 3; ++d) last[d] = (double)(grid->count[d] - 1) - inset;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; ++i) {
    const int32_t row = cell_along(grid, 1, x1[i], inset, last[1]) +
                        (flat ? 0 : cell_along(grid, 2, x2[i], inset, last[2]) * ny);
    cell[i] = cell_along(grid, 0, x0[i], inset, last[0]) + row * nx;
  }
}

static md_status reserve(cell_index *index, int64_t n, int64_t ncell)
{
  if (n > index->capacity || !index->scratch) {
    const int64_t capacity = n + n / 8 + 1;
    free(index->order);
    free(index->cell);
    free(index->scratch);
    index->order = index->cell = index->scratch = NULL;
    index->capacity = 0;
    MD_TRY(md_array_new(&index->order, capacity + CELL_ORDER_PADDING, sizeof(int32_t), "cell order"));
    MD_TRY(md_array_new(&index->cell, capacity, sizeof(int32_t), "cell ids"));
    MD_TRY(md_array_new(&index->scratch, 2 * capacity, sizeof(int32_t), "cell sorting"));
    index->capacity = capacity;
  }
  if (ncell + 1 > index->start_capacity) {
    free(index->start);
    index->start = NULL;
    index->start_capacity = 0;
    MD_TRY(md_array_new(&index->start, ncell + 1, sizeof(int32_t), "cell_start"));
    index->start_capacity = ncell + 1;
  }
  return MD_OK;
}

/* Deals particles into buckets of 2^shift cells. dealt[] gets the particle indices in the order of buckets, and
 * within a bucket in the order of the input. first[b] gets the place in dealt[] where bucket b begins. */
static md_status deal(const int32_t *cell, int64_t n, int shift, int buckets, int32_t *dealt, int64_t *first)
{
  const int chunks = omp_get_max_threads();
  int64_t *at;
  MD_TRY(md_array_new_zero(&at, (int64_t)chunks * buckets, sizeof *at, "cell sorting"));
#pragma omp parallel for schedule(static, 1)
  for (int t = 0; t < chunks; ++t)
    for (int64_t i = n * t / chunks; i < n * (t + 1) / chunks; ++i)
      ++at[(int64_t)t * buckets + (cell[i] >> shift)];
  int64_t total = 0;
  for (int b = 0; b < buckets; ++b) {
    first[b] = total;
    for (int t = 0; t < chunks; ++t) {
      const int64_t count = at[(int64_t)t * buckets + b];
      at[(int64_t)t * buckets + b] = total;
      total += count;
    }
  }
  first[buckets] = total;
#pragma omp parallel for schedule(static, 1)
  for (int t = 0; t < chunks; ++t)
    for (int64_t i = n * t / chunks; i < n * (t + 1) / chunks; ++i)
      dealt[at[(int64_t)t * buckets + (cell[i] >> shift)]++] = (int32_t)i;
  free(at);
  return MD_OK;
}

/* Sorts one bucket by cell and writes the cell_start of its cells: particles dealt[first, last), and cells
 * [first_cell, last_cell). */
static void sort_bucket(cell_index *index, const int32_t *cell, const int32_t *dealt, int64_t first,
                        int64_t last, int64_t first_cell, int64_t last_cell)
{
  int32_t *start = index->start;
  memset(start + first_cell, 0, (size_t)(last_cell - first_cell) * sizeof *start);
  for (int64_t k = first; k < last; ++k) ++start[cell[dealt[k]]];
  int32_t at = (int32_t)first;
  for (int64_t c = first_cell; c < last_cell; ++c) {
    const int32_t count = start[c];
    start[c] = at;
    at += count;
  }
  /* Moving a cell's particles advances its start to the start of the next cell. So the starts are shifted back by
   * one cell at the end. */
  for (int64_t k = first; k < last; ++k) {
    const int32_t i = dealt[k], to = start[cell[i]]++;
    index->order[to] = i;
    index->cell[to] = cell[i];
  }
  for (int64_t c = last_cell - 1; c > first_cell; --c) start[c] = start[c - 1];
  if (last_cell > first_cell) start[first_cell] = (int32_t)first;
}

md_status cell_index_build(cell_index *index, const cell_grid *grid, double *const x[3], int64_t n, int inset,
                           double seconds[2])
{
  double mark = md_time();
  MD_TRY(reserve(index, n, grid->ncell));
  index->n = n;
  int32_t *cell = index->scratch, *dealt = index->scratch + index->capacity;
  bin(grid, x, n, inset, cell);
  const double binned = md_time();
  seconds[0] += binned - mark;
  int shift = 0;
  while ((grid->ncell - 1) >> shift >= BUCKETS_MAX) ++shift;
  const int buckets = (int)((grid->ncell - 1) >> shift) + 1;
  int64_t first[BUCKETS_MAX + 1];
  MD_TRY(deal(cell, n, shift, buckets, dealt, first));
#pragma omp parallel for schedule(dynamic, 4)
  for (int b = 0; b < buckets; ++b) {
    const int64_t first_cell = (int64_t)b << shift;
    const int64_t end = (int64_t)(b + 1) << shift;
    sort_bucket(index, cell, dealt, first[b], first[b + 1], first_cell,
                end < grid->ncell ? end : grid->ncell);
  }
  index->start[grid->ncell] = (int32_t)n;
  seconds[1] += md_time() - binned;
  return MD_OK;
}

void cell_index_free(cell_index *index)
{
  free(index->start);
  free(index->order);
  free(index->cell);
  free(index->scratch);
  *index = (cell_index){0};
}

int64_t cell_index_bytes(const cell_index *index)
{
  return (index->start_capacity + 4 * index->capacity) * (int64_t)sizeof(int32_t);
}
