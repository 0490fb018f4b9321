/* How the lists of neighbours are built; kernels.c includes this file once for each instruction set.
 *
 * Candidates come as contiguous ranges, one for each row of the 3x3(x3) stencil, and the same for ghosts. They are
 * tested in single precision, twice as many at a time as in double precision. Rounding cannot make the reach of this
 * test too short: a list may hold a few pairs too many, never one too few.
 */
#ifndef MD_OPENMP_FORCE_LIST_KERNELS_H
#define MD_OPENMP_FORCE_LIST_KERNELS_H

#include "openmp/force/kernels.h"
#include "openmp/force/simd.h"

#include <stdlib.h>

/* Makes room for `need` entries and some more. Returns false, and leaves the array as it was, if out of memory. */
static bool grow(int32_t **array, int64_t *capacity, int64_t need)
{
  const int64_t larger = need + need / 8 + 1024;
  int32_t *moved = realloc(*array, (size_t)larger * sizeof **array);
  if (!moved) return false;
  *array = moved;
  *capacity = larger;
  return true;
}

static bool grow_lanes(arena *a, int64_t need)
{
  int64_t capacity = a->lane_capacity;
  for (int l = 0; l < BLOCK; ++l) {
    capacity = a->lane_capacity;
    if (!grow(&a->lane[l], &capacity, need)) return false;
  }
  a->lane_capacity = capacity;
  return true;
}

/* Contiguous ranges [first[k], last[k]) of sorted particles, k < n: one for each row of a stencil, and one more where
 * the particles of a thread lie within a row and divide it. */
enum { RANGES = 9 + 1 };
typedef struct ranges {
  int n;
  int32_t first[RANGES], last[RANGES];
} ranges;

/* The candidates of the particles of one cell: a range for each row of the 3x3(x3) stencil. */
typedef struct stencil {
  int64_t cell;
  int64_t candidates; /* in all ranges together */
  ranges owned, ghost;
} stencil;

MD_FN int32_t ranges_add(ranges *r, const cell_index *index, int64_t cell, bool keep_empty)
{
  const int32_t first = index->start[cell - 1], last = index->start[cell + 2];
  r->first[r->n] = first;
  r->last[r->n] = last;
  r->n += keep_empty || last > first;
  return last - first;
}

MD_FN void stencil_move(stencil *s, const list_args *a, int dim, bool ghosts, int64_t cell)
{
  const int64_t nx = a->grid->count[0], nxy = nx * a->grid->count[1];
  s->cell = cell;
  s->owned.n = s->ghost.n = 0;
  s->candidates = 0;
  for (int dz = dim == 3 ? -1 : 0; dz <= (dim == 3 ? 1 : 0); ++dz)
    for (int dy = -1; dy <= 1; ++dy) {
      const int64_t row = cell + dz * nxy + dy * nx;
      /* Empty rows of owned particles are kept, so that their number is always the same: where cells are nearly
       * empty, testing a row without particles is cheaper than a mispredicted branch. */
      s->candidates += ranges_add(&s->owned, a->owned, row, true);
      if (ghosts) s->candidates += ranges_add(&s->ghost, a->ghost, row, false);
    }
}

/* Whether the stencils of the cells from `first` to `last` may hold ghosts. All cells between them in the order of
 * cell ids are included, so that the answer may be a needless yes, never a wrong no. */
MD_FN bool meets_ghosts(const list_args *a, int dim, int64_t first, int64_t last)
{
  const int64_t nx = a->grid->count[0], nxy = nx * a->grid->count[1];
  const int32_t *start = a->ghost->start;
  int32_t met = 0;
  for (int dz = dim == 3 ? -1 : 0; dz <= (dim == 3 ? 1 : 0); ++dz)
    for (int dy = -1; dy <= 1; ++dy) {
      const int64_t row = dz * nxy + dy * nx;
      met |= start[last + row + 2] - start[first + row - 1];
    }
  return met != 0;
}

/* Writes to `out` the particles k of [first, last), which may be empty, whose positions x are within reach of xi.
 * Their indices are k itself, or base + order[k] if there is an order. Leaves out `self`. Returns how many. */
MD_FN int32_t scan_range(int dim, const simd_f *xi, simd_f reach2, const float *const *x, int32_t first,
                         int32_t last, const int32_t *order, int32_t base, int32_t self, int32_t *out)
{
  int32_t found = 0;
  simd_xf index = single_index(first);
  int32_t j = first;
  do {
    const simd_f delta0 = xi[0] - single_load(x[0] + j);
    const simd_f delta1 = xi[1] - single_load(x[1] + j);
    simd_f r2 = single_fma(delta1, delta1, delta0 * delta0);
    if (dim == 3) {
      const simd_f delta2 = xi[2] - single_load(x[2] + j);
      r2 = single_fma(delta2, delta2, r2);
    }
    if (order) index = single_add_x(single_load_x(order + j), base);
    found += single_append(out + found, r2, reach2, last - j, index, self);
    if (!order) index = single_add_x(index, MD_SINGLE_WIDTH);
    j += MD_SINGLE_WIDTH;
  } while (j < last);
  return found;
}

MD_FN int32_t scan(const list_args *a, int dim, const stencil *s, int64_t i, int32_t *out)
{
  /* Local copies, because the compiler must assume that a store to the list may change *a. */
  const float *const x[3] = {a->x[0], a->x[1], a->x[2]};
  const simd_f reach2 = single_set(a->reach2);
  simd_f xi[3];
  for (int d = 0; d < dim; ++d) xi[d] = single_set(x[d][i]);
  int32_t found = 0;
  for (int r = 0; r < s->owned.n; ++r)
    found +=
        scan_range(dim, xi, reach2, x, s->owned.first[r], s->owned.last[r], NULL, 0, (int32_t)i, out + found);
  const float *const ghost_x[3] = {a->ghost_x[0], a->ghost_x[1], a->ghost_x[2]};
  for (int r = 0; r < s->ghost.n; ++r)
    found += scan_range(dim, xi, reach2, ghost_x, s->ghost.first[r], s->ghost.last[r], a->ghost->order,
                        (int32_t)a->n, -1, out + found);
  return found;
}

/* Takes the particles that bonds exclude out of a lane's list of particle i. Returns how many are left. */
static int32_t leave_out(const list_args *a, int64_t i, int32_t *list, int32_t n)
{
  int64_t excluded[MD_BONDS_MAX + MD_SPECIALS_MAX];
  int nexcluded = 0;
  for (int k = 0; k < a->nexcluded; ++k)
    if (a->excluded[k][i] > 0) excluded[nexcluded++] = a->excluded[k][i];
  int32_t kept = 0;
  for (int32_t r = 0; r < n; ++r) {
    const int64_t id = a->id[list[r]];
    int same = 0;
    for (int k = 0; k < nexcluded; ++k) same |= excluded[k] == id;
    list[kept] = list[r];
    kept += !same;
  }
  return kept;
}

/* The same for those that molecules exclude. */
static int32_t leave_molecules_out(const list_args *a, int64_t i, int32_t *list, int32_t n)
{
  int32_t kept = 0;
  for (int32_t r = 0; r < n; ++r) {
    const int32_t j = list[r];
    const uint32_t groups = a->group ? (a->group[i] & a->group[j]) | MD_GROUP_ALL : MD_GROUP_ALL;
    list[kept] = j;
    kept += !md_molecules_exclude(a->molecules, groups, a->molecule[i] == a->molecule[j]);
  }
  return kept;
}

/* Turns the lists of the lanes into rows, filled up with `far`, at the end of the arena. Returns false if out of
 * memory. */
static bool write_block(arena *a, const int32_t *length, int32_t rows, int32_t far)
{
  /* Rows are written eight at a time. */
  const int64_t need = a->used + ((int64_t)rows + BLOCK) * BLOCK;
  if (need > a->capacity && !grow(&a->entry, &a->capacity, need)) return false;
  for (int l = 0; l < BLOCK; ++l) {
    int32_t r = length[l];
    do simd_fill_8(a->lane[l] + r, far);
    while ((r += 8) < rows);
  }
  simd_interleave((const int32_t *const *)a->lane, rows, a->entry + a->used);
  a->used += (int64_t)rows * BLOCK;
  return true;
}

MD_FN bool build(const list_args *a, int dim, bool ghosts, int64_t first, int64_t last, arena *memory,
                 int32_t *rows)
{
  stencil s;
  s.cell = -1, s.candidates = 0, s.owned.n = s.ghost.n = 0;
  for (int64_t block = first; block < last; block += BLOCK) {
    int32_t length[BLOCK] = {0}, longest = 0;
    for (int l = 0; l < BLOCK && block + l < last; ++l) {
      const int64_t i = block + l;
      if (a->owned->cell[i] != s.cell) stencil_move(&s, a, dim, ghosts, a->owned->cell[i]);
      /* Room for a whole vector that is stored after the last entry, and for filling up to a multiple of eight
       * rows. */
      const int64_t need = s.candidates + MD_SINGLE_WIDTH + 2 * BLOCK;
      if (need > memory->lane_capacity && !grow_lanes(memory, need)) return false;
      length[l] = scan(a, dim, &s, i, memory->lane[l]);
      if (a->nexcluded > 0) length[l] = leave_out(a, i, memory->lane[l], length[l]);
      if (a->molecule) length[l] = leave_molecules_out(a, i, memory->lane[l], length[l]);
      if (length[l] > longest) longest = length[l];
    }
    if (!write_block(memory, length, longest, a->far)) return false;
    rows[(block - first) / BLOCK] = longest;
  }
  return true;
}

static bool build_list(const list_args *a, int64_t first, int64_t last, arena *memory, int32_t *rows,
                       bool *inner)
{
  const int32_t *cell = a->owned->cell;
  *inner = !meets_ghosts(a, a->dim, cell[first], cell[last - 1]);
  if (a->dim == 3 && *inner) return build(a, 3, false, first, last, memory, rows);
  if (a->dim == 3) return build(a, 3, true, first, last, memory, rows);
  if (*inner) return build(a, 2, false, first, last, memory, rows);
  return build(a, 2, true, first, last, memory, rows);
}

#endif
