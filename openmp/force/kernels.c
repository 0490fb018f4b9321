/* The inner loops, for the instruction set this file is compiled for (-DMD_ISA=generic, avx2 or avx512).
 *
 * Forces: lanes are particles, rows are neighbours (kernels.h). Positions of neighbours are gathered. Particles are
 * in cell order, so that the gathers hit the first-level cache. An impulse is rounded by the fma that forms it, and
 * its bits are added as an integer (common/arithmetic/exact.h).
 *
 * Half lists have loops of their own (half_kernels.h). What follows is about full lists.
 *
 * Energies and virials: the same loop over the list, in a kernel of its own that only thermo output calls.
 *
 * List: candidates come as contiguous ranges, one for each row of the 3x3(x3) stencil, and the same for ghosts. They
 * are tested in single precision, twice as many at a time as in double precision. Rounding cannot make the reach of
 * this test too short: a list may hold a few pairs too many, never one too few.
 *
 * Cost: a pair takes about 27 vector operations in 3D, of which exactness takes three. On a core with AVX-512 this
 * is about 1 ns a listed pair.
 */
#include "openmp/force/kernels.h"
#include "openmp/force/bond_vectors.h"
#include "openmp/force/simd.h"
#include "openmp/force/table_rows.h"

#include <stdlib.h>

#define real simd_d
#define MD_T(name) name##_v
#include "common/pair/pair_styles.h"
#undef real
#undef MD_T

#include "openmp/force/density_kernels.h"
#include "openmp/force/hybrid_kernels.h"
#include "openmp/force/visits.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define STRING_(a) #a
#define STRING(a) STRING_(a)

/* ---- list ---- */

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

/* ---- force ---- */

typedef simd_d (*force_formula)(simd_d r2, const simd_d *k);

/* The coefficients of the first pair of types. With one type these are the coefficients of every pair. A coefficient
 * that the formula does not use costs nothing, because the compiler leaves its load out. */
MD_FN void broadcast_coefficients(const force_args *a, simd_d *k)
{
  for (int c = 0; c < MD_PAIR_K; ++c) k[c] = simd_set(a->k[c]);
}

MD_FN void load_coefficients(const force_args *a, simd_x pair, simd_d *k)
{
  const simd_x at = simd_scale_x(pair, MD_PAIR_K);
  for (int c = 0; c < MD_PAIR_K; ++c) k[c] = simd_gather(a->k + c, at);
}

/* Forces on one vector of particles of a block, from all rows of the block's list. m: NULL. Returns the least squared
 * distances. */
MD_FN simd_d force_lanes(const force_args *a, force_formula formula, int dim, bool typed, int64_t i,
                         const int32_t *entry, int32_t rows, double *const *force, simd_d least,
                         md_measure *m)
{
  (void)m;
  const simd_d rounder = simd_set(MD_ROUND);
  simd_d xi[3], k[MD_PAIR_K];
  simd_i sum[3];
  simd_x type_row = simd_set_x(0);
  for (int d = 0; d < dim; ++d) {
    xi[d] = simd_load(a->x[d] + i);
    sum[d] = simd_zero_i();
  }
  broadcast_coefficients(a, k);
  if (typed) type_row = simd_scale_x(simd_load_x(a->type + i), a->ntypes);
  for (int32_t r = 0; r < rows; ++r) {
    const simd_x j = simd_load_x(entry + (int64_t)r * BLOCK);
    simd_d delta[3];
    for (int d = 0; d < dim; ++d) delta[d] = xi[d] - simd_gather(a->x[d], j);
    simd_d r2 = simd_set(0.0);
    for (int d = 0; d < dim; ++d) r2 = simd_fma(delta[d], delta[d], r2);
    if (typed) load_coefficients(a, simd_add_x(type_row, simd_gather_x(a->type, j)), k);
    least = simd_min(least, r2);
    const simd_d f = simd_keep(simd_less(r2, k[0]), formula(r2, k));
    for (int d = 0; d < dim; ++d) sum[d] = simd_add_bits(sum[d], simd_fma(f, delta[d], rounder));
  }
  const uint64_t bias = (uint64_t)rows * (uint64_t)md_bits(MD_ROUND);
  for (int d = 0; d < dim; ++d) simd_store(force[d], simd_difference(sum[d], bias));
  return least;
}

/* Of one vector: force_lanes, force_virial_lanes or output_lanes. */
typedef simd_d (*lanes_force)(const force_args *, force_formula, int dim, bool typed, int64_t i,
                              const int32_t *entry, int32_t rows, double *const *force, simd_d least,
                              md_measure *);

MD_FN double force_chunk(lanes_force add, const force_args *a, force_formula formula, int dim, bool typed,
                         int64_t first, int64_t last, const int32_t *entry, const int32_t *rows,
                         double (*force)[CHUNK], md_measure *m)
{
  simd_d least = simd_set(MD_FAR);
  for (int64_t block = first; block < last; block += BLOCK) {
    const int32_t n = rows[(block - first) / BLOCK];
    for (int l = 0; l < BLOCK && block + l < a->n; l += MD_SIMD_WIDTH) {
      const int64_t k = block - first + l;
      double *const out[3] = {force[0] + k, force[1] + k, dim == 3 ? force[2] + k : NULL};
      least = add(a, formula, dim, typed, block + l, entry + l, n, out, least, m);
    }
    entry += (int64_t)n * BLOCK;
  }
  return simd_least(least);
}

typedef simd_d (*energy_formula)(simd_d r2, const simd_d *k);

/* A fine sum (common/arithmetic/exact.h) in every lane. It adds the bits of doubles that contain MD_ROUND, so that each
 * row leaves an offset of MD_ROUND's bits in the sum. fine_lanes_total subtracts these offsets. */
typedef struct fine_lanes {
  simd_i coarse, rest;
} fine_lanes;

/* Adds a * scale, in coarse quanta. The scale is a power of two, so that the rest is exact. */
MD_FN void fine_lanes_add(fine_lanes *sum, simd_d a, simd_d scale)
{
  const simd_d rounder = simd_set(MD_ROUND), rounded = simd_fma(a, scale, rounder);
  const simd_d rest = md_fms_v(a, scale, rounded - rounder);
  sum->coarse = simd_add_bits(sum->coarse, rounded);
  sum->rest = simd_add_bits(sum->rest, simd_fma(rest, simd_set(MD_FINE), rounder));
}

/* The sum of each lane, of `rows` rows. */
MD_FN void fine_lanes_store(const fine_lanes *sum, int32_t rows, md_fine lane[MD_SIMD_WIDTH])
{
  const uint64_t bias = (uint64_t)rows * (uint64_t)md_bits(MD_ROUND);
  int64_t coarse[MD_SIMD_WIDTH], rest[MD_SIMD_WIDTH];
  simd_store_i(coarse, sum->coarse);
  simd_store_i(rest, sum->rest);
  for (int l = 0; l < MD_SIMD_WIDTH; ++l)
    lane[l] = (md_fine){(int64_t)((uint64_t)coarse[l] - bias), (int64_t)((uint64_t)rest[l] - bias)};
}

/* Adds the sums of the lanes to *total. Only the first n lanes hold owned particles. */
MD_FN void fine_lanes_total(const fine_lanes *sum, int32_t rows, int64_t n, md_wide *total)
{
  md_fine lane[MD_SIMD_WIDTH];
  fine_lanes_store(sum, rows, lane);
  for (int64_t l = 0; l < MD_SIMD_WIDTH && l < n; ++l) md_wide_add(total, md_fine_count(lane[l]));
}

/* Adds sums of the lanes, of `rows` products each that were rounded by `rounder`, to *total as coarse quanta. */
MD_FN void counts_total(simd_i sum, int32_t rows, double rounder, int64_t n, md_wide *total)
{
  const uint64_t bias = (uint64_t)rows * (uint64_t)md_bits(rounder);
  int64_t lane[MD_SIMD_WIDTH];
  simd_store_i(lane, sum);
  for (int64_t l = 0; l < MD_SIMD_WIDTH && l < n; ++l)
    md_wide_add(total, md_fine_count((md_fine){(int64_t)((uint64_t)lane[l] - bias), 0}));
}

/* Forces for output on one vector of particles of a block, as fine sums. Returns the least squared distances. */
MD_FN simd_d output_lanes(const force_args *a, force_formula formula, int dim, bool typed, int64_t i,
                          const int32_t *entry, int32_t rows, double *const *force, simd_d least,
                          md_measure *m)
{
  (void)m;
  const simd_d one = simd_set(1.0);
  simd_d xi[3], k[MD_PAIR_K];
  fine_lanes sum[3];
  simd_x type_row = simd_set_x(0);
  for (int d = 0; d < dim; ++d) {
    xi[d] = simd_load(a->x[d] + i);
    sum[d] = (fine_lanes){simd_zero_i(), simd_zero_i()};
  }
  broadcast_coefficients(a, k);
  if (typed) type_row = simd_scale_x(simd_load_x(a->type + i), a->ntypes);
  for (int32_t r = 0; r < rows; ++r) {
    const simd_x j = simd_load_x(entry + (int64_t)r * BLOCK);
    simd_d r2 = simd_set(0.0), delta[3];
    for (int d = 0; d < dim; ++d) {
      delta[d] = xi[d] - simd_gather(a->x[d], j);
      r2 = simd_fma(delta[d], delta[d], r2);
    }
    if (typed) load_coefficients(a, simd_add_x(type_row, simd_gather_x(a->type, j)), k);
    least = simd_min(least, r2);
    const simd_d f = simd_keep(simd_less(r2, k[0]), formula(r2, k));
    for (int d = 0; d < dim; ++d) fine_lanes_add(&sum[d], f * delta[d], one);
  }
  md_fine lane[MD_SIMD_WIDTH];
  for (int d = 0; d < dim; ++d) {
    fine_lanes_store(&sum[d], rows, lane);
    for (int l = 0; l < MD_SIMD_WIDTH; ++l) force[d][l] = md_fine_value(lane[l]) * a->quantum;
  }
  return least;
}

/* The same as force_lanes, and adds the virial of impulses to *m (common/compute/impulse_virial.h), or its components
 * along the axes. */
MD_FN simd_d force_virial_lanes(const force_args *a, force_formula formula, int dim, bool typed, int64_t i,
                                const int32_t *entry, int32_t rows, double *const *force, simd_d least,
                                md_measure *m)
{
  const simd_d rounder = simd_set(MD_ROUND), virial_rounder = simd_set(a->virial_rounder);
  const int sums = a->axes ? dim : 1;
  simd_d xi[3], k[MD_PAIR_K];
  simd_i sum[3], virial[3] = {simd_zero_i(), simd_zero_i(), simd_zero_i()};
  simd_x type_row = simd_set_x(0);
  for (int d = 0; d < dim; ++d) {
    xi[d] = simd_load(a->x[d] + i);
    sum[d] = simd_zero_i();
  }
  broadcast_coefficients(a, k);
  if (typed) type_row = simd_scale_x(simd_load_x(a->type + i), a->ntypes);
  for (int32_t r = 0; r < rows; ++r) {
    const simd_x j = simd_load_x(entry + (int64_t)r * BLOCK);
    simd_d delta[3], r2 = simd_set(0.0);
    for (int d = 0; d < dim; ++d) {
      delta[d] = xi[d] - simd_gather(a->x[d], j);
      r2 = simd_fma(delta[d], delta[d], r2);
    }
    if (typed) load_coefficients(a, simd_add_x(type_row, simd_gather_x(a->type, j)), k);
    least = simd_min(least, r2);
    const simd_m near = simd_less(r2, k[0]);
    const simd_d f = simd_keep(near, formula(r2, k));
    for (int d = 0; d < dim; ++d) sum[d] = simd_add_bits(sum[d], simd_fma(f, delta[d], rounder));
    if (!a->axes) virial[0] = simd_add_bits(virial[0], simd_fma(simd_keep_odd(near, f), r2, virial_rounder));
    for (int d = 0; a->axes && d < dim; ++d) {
      const simd_d part = simd_keep_odd(near, f * delta[d]);
      virial[d] = simd_add_bits(virial[d], simd_fma(part, delta[d], virial_rounder));
    }
  }
  const uint64_t bias = (uint64_t)rows * (uint64_t)md_bits(MD_ROUND);
  for (int d = 0; d < dim; ++d) simd_store(force[d], simd_difference(sum[d], bias));
  for (int c = 0; c < sums; ++c)
    counts_total(virial[c], rows, a->virial_rounder, a->n - i, a->axes ? &m->tensor2[c] : &m->virial2);
  return least;
}

/* Adds energy and virial of one vector of particles of a block to *m. Returns the least squared distances. */
MD_FN simd_d measure_lanes(const force_args *a, force_formula force, energy_formula energy, int dim,
                           bool typed, int64_t i, const int32_t *entry, int32_t rows, simd_d least,
                           md_measure *m)
{
  const simd_d per_e = simd_set(a->per_e), per_w = simd_set(a->per_w);
  simd_d xi[3], k[MD_PAIR_K];
  fine_lanes sum_e = {simd_zero_i(), simd_zero_i()}, sum_w = sum_e;
  simd_x type_row = simd_set_x(0);
  for (int d = 0; d < dim; ++d) xi[d] = simd_load(a->x[d] + i);
  broadcast_coefficients(a, k);
  if (typed) type_row = simd_scale_x(simd_load_x(a->type + i), a->ntypes);
  for (int32_t r = 0; r < rows; ++r) {
    const simd_x j = simd_load_x(entry + (int64_t)r * BLOCK);
    simd_d r2 = simd_set(0.0);
    for (int d = 0; d < dim; ++d) {
      const simd_d delta = xi[d] - simd_gather(a->x[d], j);
      r2 = simd_fma(delta, delta, r2);
    }
    if (typed) load_coefficients(a, simd_add_x(type_row, simd_gather_x(a->type, j)), k);
    least = simd_min(least, r2);
    const simd_m near = simd_less(r2, k[0]);
    fine_lanes_add(&sum_e, simd_keep(near, energy(r2, k)), per_e);
    fine_lanes_add(&sum_w, simd_keep(near, force(r2, k) * r2), per_w);
  }
  fine_lanes_total(&sum_e, rows, a->n - i, &m->pair_energy2);
  fine_lanes_total(&sum_w, rows, a->n - i, &m->virial2);
  return least;
}

/* Adds the components r_a f_b of the virial of one vector of particles of a block to *m. Returns the least squared
 * distances. */
MD_FN simd_d tensor_lanes(const force_args *a, force_formula force, energy_formula energy, int dim,
                          bool typed, int64_t i, const int32_t *entry, int32_t rows, simd_d least,
                          md_measure *m)
{
  const simd_d per_w = simd_set(a->per_w);
  simd_d xi[3], k[MD_PAIR_K];
  fine_lanes sum[MD_TENSOR];
  simd_x type_row = simd_set_x(0);
  (void)energy;
  for (int c = 0; c < MD_TENSOR; ++c) sum[c] = (fine_lanes){simd_zero_i(), simd_zero_i()};
  for (int d = 0; d < dim; ++d) xi[d] = simd_load(a->x[d] + i);
  broadcast_coefficients(a, k);
  if (typed) type_row = simd_scale_x(simd_load_x(a->type + i), a->ntypes);
  for (int32_t r = 0; r < rows; ++r) {
    const simd_x j = simd_load_x(entry + (int64_t)r * BLOCK);
    simd_d r2 = simd_set(0.0), delta[3];
    for (int d = 0; d < dim; ++d) {
      delta[d] = xi[d] - simd_gather(a->x[d], j);
      r2 = simd_fma(delta[d], delta[d], r2);
    }
    if (typed) load_coefficients(a, simd_add_x(type_row, simd_gather_x(a->type, j)), k);
    least = simd_min(least, r2);
    const simd_d f = simd_keep(simd_less(r2, k[0]), force(r2, k));
    for (int c = 0; c < MD_TENSOR; ++c)
      if (md_tensor_column(c) < dim)
        fine_lanes_add(&sum[c], f * delta[md_tensor_row(c)] * delta[md_tensor_column(c)], per_w);
  }
  for (int c = 0; c < MD_TENSOR; ++c)
    if (md_tensor_column(c) < dim) fine_lanes_total(&sum[c], rows, a->n - i, &m->tensor2[c]);
  return least;
}

/* Of one vector: measure_lanes or tensor_lanes. */
typedef simd_d (*lanes_sum)(const force_args *, force_formula, energy_formula, int dim, bool typed, int64_t i,
                            const int32_t *entry, int32_t rows, simd_d least, md_measure *);

MD_FN double measure_chunk(lanes_sum add, const force_args *a, force_formula force, energy_formula energy,
                           int dim, bool typed, int64_t first, int64_t last, const int32_t *entry,
                           const int32_t *rows, md_measure *m)
{
  simd_d least = simd_set(MD_FAR);
  for (int64_t block = first; block < last; block += BLOCK) {
    const int32_t n = rows[(block - first) / BLOCK];
    for (int l = 0; l < BLOCK && block + l < a->n; l += MD_SIMD_WIDTH)
      least = add(a, force, energy, dim, typed, block + l, entry + l, n, least, m);
    entry += (int64_t)n * BLOCK;
  }
  return simd_least(least);
}

/* The sums NAME of a style, in each dimension. */
#define MEASURE_OF(name, symbol)                                                                             \
  static double name##_##symbol(const force_args *a, int dim, int64_t first, int64_t last,                   \
                                const int32_t *entry, const int32_t *rows, md_measure *m)                    \
  {                                                                                                          \
    const bool typed = a->type != NULL;                                                                      \
    if (dim == 3)                                                                                            \
      return measure_chunk(name##_lanes, a, md_##symbol##_force_v, md_##symbol##_energy_v, 3, typed, first,  \
                           last, entry, rows, m);                                                            \
    return measure_chunk(name##_lanes, a, md_##symbol##_force_v, md_##symbol##_energy_v, 2, typed, first,    \
                         last, entry, rows, m);                                                              \
  }

/* The forces NAME of a style. The compiler makes one loop for each dimension, and for one or several types. */
#define FORCE_LOOPS(name, symbol, m)                                                                         \
  const force_formula f = md_##symbol##_force_v;                                                             \
  if (dim == 3 && !a->type)                                                                                  \
    return force_chunk(name##_lanes, a, f, 3, false, first, last, entry, rows, force, m);                    \
  if (dim == 3) return force_chunk(name##_lanes, a, f, 3, true, first, last, entry, rows, force, m);         \
  if (!a->type) return force_chunk(name##_lanes, a, f, 2, false, first, last, entry, rows, force, m);        \
  return force_chunk(name##_lanes, a, f, 2, true, first, last, entry, rows, force, m);

#define FORCE_OF(name, symbol)                                                                               \
  static double name##_##symbol(const force_args *a, int dim, int64_t first, int64_t last,                   \
                                const int32_t *entry, const int32_t *rows, double(*force)[CHUNK])            \
  {                                                                                                          \
    FORCE_LOOPS(name, symbol, NULL)                                                                          \
  }

#define FORCE_VIRIAL_OF(symbol)                                                                              \
  static double force_virial_##symbol(const force_args *a, int dim, int64_t first, int64_t last,             \
                                      const int32_t *entry, const int32_t *rows, double(*force)[CHUNK],      \
                                      md_measure *m)                                                         \
  {                                                                                                          \
    FORCE_LOOPS(force_virial, symbol, m)                                                                     \
  }

#define MD_PAIR_CUT(symbol)                                                                                  \
  FORCE_OF(force, symbol)                                                                                    \
  FORCE_VIRIAL_OF(symbol)                                                                                    \
  FORCE_OF(output, symbol)                                                                                   \
  MEASURE_OF(measure, symbol) MEASURE_OF(tensor, symbol)
#include "common/pair/pair_styles.h"
MD_PAIR_CUT(hybrid)
#undef MD_PAIR_CUT

/* Styles with shared kernels have a loop of their own for impulses only. The sums for output call the formulas, which
 * is slower, and takes a tenth of the code. */
static double output_shared(force_formula f, const force_args *a, int dim, int64_t first, int64_t last,
                            const int32_t *entry, const int32_t *rows, double (*force)[CHUNK])
{
  return force_chunk(output_lanes, a, f, dim, a->type, first, last, entry, rows, force, NULL);
}

static double measure_shared(force_formula f, energy_formula e, const force_args *a, int dim, int64_t first,
                             int64_t last, const int32_t *entry, const int32_t *rows, md_measure *m)
{
  return measure_chunk(measure_lanes, a, f, e, dim, a->type, first, last, entry, rows, m);
}

static double tensor_shared(force_formula f, energy_formula e, const force_args *a, int dim, int64_t first,
                            int64_t last, const int32_t *entry, const int32_t *rows, md_measure *m)
{
  return measure_chunk(tensor_lanes, a, f, e, dim, a->type, first, last, entry, rows, m);
}

#define SHARED_MEASURE_OF(name, symbol)                                                                      \
  static double name##_##symbol(const force_args *a, int dim, int64_t first, int64_t last,                   \
                                const int32_t *entry, const int32_t *rows, md_measure *m)                    \
  {                                                                                                          \
    return name##_shared(symbol##_force, symbol##_energy, a, dim, first, last, entry, rows, m);              \
  }

#define MD_PAIR_SHARED(symbol)                                                                               \
  FORCE_OF(force, symbol)                                                                                    \
  FORCE_VIRIAL_OF(symbol)                                                                                    \
  static simd_d symbol##_force(simd_d r2, const simd_d *k) { return md_##symbol##_force_v(r2, k); }          \
  static simd_d symbol##_energy(simd_d r2, const simd_d *k) { return md_##symbol##_energy_v(r2, k); }        \
  static double output_##symbol(const force_args *a, int dim, int64_t first, int64_t last,                   \
                                const int32_t *entry, const int32_t *rows, double(*force)[CHUNK])            \
  {                                                                                                          \
    return output_shared(symbol##_force, a, dim, first, last, entry, rows, force);                           \
  }                                                                                                          \
  SHARED_MEASURE_OF(measure, symbol) SHARED_MEASURE_OF(tensor, symbol)
#include "common/pair/pair_styles.h"
#undef MD_PAIR_SHARED

#include "openmp/force/half_density.h"
#include "openmp/force/half_kernels.h"

/* ---- move ---- */

static void scale(const scaling *a, int dim, double *const v[3], int64_t first, int64_t last)
{
  const double most = a->most, v_step = a->v_step;
  for (int d = 0; d < dim; ++d) {
    const double factor = a->factor[d];
    double *w = v[d] + first;
    int64_t beyond = 0;
#pragma omp simd reduction(+ : beyond)
    for (int64_t i = 0; i < last - first; ++i) {
      w[i] = md_step_scaled(w[i], 0.0, factor, v_step);
      beyond += fabs(w[i]) <= most ? 0 : 1;
    }
    for (int64_t i = 0; beyond && i < last - first; ++i) w[i] = md_step_limited(w[i], most, v_step);
  }
}

/* A vector rounds a term by adding MD_ROUND, whose bits its sum then holds once for each term. */
static bool kinetic(const kinetic_args *a, int64_t first, int64_t last, md_wide *sum)
{
  const double velocity_per_v = a->velocity_per_v, reference = a->mass_reference, per_unit = a->per_unit;
  const int64_t n = last - first;
  double v2[CHUNK] = {0.0};
  uint64_t coarse = 0, rest = 0;
  int64_t beyond = 0;
  for (int d = 0; d < a->dim; ++d) {
    const double *v = a->v[d] + first;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) v2[i] = fma(v[i], v[i], v2[i]);
  }
#pragma omp simd reduction(+ : coarse, rest, beyond)
  for (int64_t i = 0; i < n; ++i) {
    const double term = md_kinetic(v2[i], velocity_per_v, reference) * per_unit, rounded = term + MD_ROUND;
    beyond += term < MD_ROUND_RANGE ? 0 : 1;
    coarse += (uint64_t)md_bits(rounded);
    rest += (uint64_t)md_bits((term - (rounded - MD_ROUND)) * MD_FINE + MD_ROUND);
  }
  if (beyond) return false;
  const uint64_t bias = (uint64_t)n * (uint64_t)md_bits(MD_ROUND);
  md_wide_add(sum, md_fine_count((md_fine){(int64_t)(coarse - bias), (int64_t)(rest - bias)}));
  return true;
}

/* Takes the coordinates x[0..n) along axis d with the change of the box, to at[]. A particle is rarely on another image
 * than the next one. */
MD_FN void carry(const md_step *m, int d, const double *x, int64_t n, double at[CHUNK])
{
  const double lo = m->box_lo[d], hi = m->box_hi[d], length = m->length[d], scaled = m->scale[d];
  const double new_lo = m->new_lo[d], new_length = m->new_length[d], quantum = m->quantum;
  const bool carries = (m->carried[d] & MD_GROUP_ALL) != 0;
  int64_t beyond = 0;
#pragma omp simd reduction(+ : beyond)
  for (int64_t i = 0; i < n; ++i) {
    const double images = x[i] < lo ? -1.0 : x[i] >= hi ? 1.0 : 0.0, in = x[i] - images * length;
    beyond += in >= lo && in < hi ? 0 : 1;
    at[i] = fma(images, new_length, carries ? md_step_carried(in, lo, scaled, new_lo, quantum) : in);
  }
  for (int64_t i = 0; beyond && i < n; ++i) at[i] = md_step_carry(m, d, MD_GROUP_ALL, x[i]);
}

/* Adds the squares of displacements along axis d of n particles from `first` on, which are at to[]. */
MD_FN void add_distances(const move_args *a, int d, const double *to, int64_t first, int64_t n,
                         double distance2[CHUNK])
{
  const float *from = a->from[d] + first;
  const double corner = a->corner[d], scaled = a->scale[d];
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const double delta = to[i] - corner - scaled * (double)from[i];
    distance2[i] += delta * delta;
  }
}

MD_FN void take_largest(const double distance2[CHUNK], double *largest2)
{
  simd_d far2 = simd_set(*largest2);
  for (int64_t i = 0; i < CHUNK; i += MD_SIMD_WIDTH) far2 = md_max_v(simd_load(distance2 + i), far2);
  double lane[MD_SIMD_WIDTH];
  simd_store(lane, far2);
  for (int l = 0; l < MD_SIMD_WIDTH; ++l) *largest2 = md_max(*largest2, lane[l]);
}

/* Plain loops, which the compiler turns into vector code. A chunk stays in the first-level cache from axis to axis. */
static bool move(const move_args *a, const double *const *impulse, int64_t first, int64_t last,
                 double *largest2)
{
  const md_step *m = a->step;
  const double gain = a->kicks * a->quantum, limit = m->move_limit, round_x = m->round_x;
  const int64_t n = last - first;
  double distance2[CHUNK] = {0.0}, carried[CHUNK];
  bool sane = true;
  for (int d = 0; d < m->dim; ++d) {
    const double *x = a->x[d] + first;
    const double time_scale = m->stretch[d] * a->time_scale;
    double *to = a->to[d] + first, *v = a->v[d] + first;
    const double lo = m->stay_lo[d], hi = m->stay_hi[d];
    int64_t outside = 0, bad = 0;
    if (m->changes_box && m->periodic[d]) {
      carry(m, d, x, n, carried);
      x = carried;
    }
    if (impulse) {
      const double *kick = impulse[d];
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) v[i] = fma(kick[i], gain, v[i]);
    }
#pragma omp simd reduction(+ : outside, bad)
    for (int64_t i = 0; i < n; ++i) {
      const double moved = md_drift(v[i], time_scale, round_x), there = x[i] + moved;
      to[i] = there;
      bad += fabs(moved) <= limit ? 0 : 1;
      outside += there >= lo && there <= hi ? 0 : 1;
    }
    if (bad)
      sane = false;
    else if (outside)
      for (int64_t i = 0; i < n; ++i) {
        if (to[i] < m->lo[d] || to[i] > m->hi[d]) md_reflect(&to[i], &v[i], m->lo[d], m->hi[d], m->quantum);
        sane = sane && to[i] >= lo && to[i] <= hi;
      }
    add_distances(a, d, to, first, n, distance2);
  }
  take_largest(distance2, largest2);
  return sane;
}

/* One axis of a chunk in a bath: kick, half of the drift, bath, half of the drift. Returns how many particles may not
 * move like this. */
MD_FN int64_t bath_axis(const move_args *a, const bath *b, int d, const double *kick, const uint32_t *word,
                        int64_t first, int64_t n, double *to, double *w)
{
  const md_step *m = a->step;
  const double gain = a->kicks * a->quantum, limit = m->move_limit, round_x = m->round_x;
  const double time_scale = a->time_scale, lo = m->stay_lo[d], hi = m->stay_hi[d];
  const double keep = b->keep, noise = b->noise, v_step = b->v_step;
  const double *x = a->x[d] + first, *v = a->v[d] + first;
  int64_t beyond = 0;
#pragma omp simd reduction(+ : beyond)
  for (int64_t i = 0; i < n; ++i) {
    const double kicked = kick ? fma(kick[i], gain, v[i]) : v[i],
                 half = md_drift(kicked, time_scale, round_x);
    const double there = x[i] + half,
                 acted = md_langevin_component(keep, noise, word[i], kicked, 0.0, v_step);
    const double more = md_drift(acted, time_scale, round_x), end = there + more;
    beyond += fabs(half) <= limit && fabs(more) <= limit ? 0 : 1;
    beyond += there >= lo && there <= hi && end >= lo && end <= hi ? 0 : 1;
    to[i] = end;
    w[i] = acted;
  }
  return beyond;
}

/* The random words of the particles of a chunk, for each axis. */
MD_FN void random_words(const bath *b, int64_t first, int64_t n, uint32_t word[3][CHUNK])
{
  const int64_t *id = b->id + first;
  const uint64_t seed = b->seed, number = b->number;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const md_random r = md_random_at(seed, (uint64_t)id[i], number, MD_STREAM_LANGEVIN);
    word[0][i] = r.word[0];
    word[1][i] = r.word[1];
    word[2][i] = r.word[2];
  }
}

static bool move_in_bath(const move_args *a, const bath *b, const double *const *impulse, int64_t first,
                         int64_t last, double *largest2)
{
  const int64_t n = last - first;
  const int dim = a->step->dim;
  uint32_t word[3][CHUNK];
  double to[3][CHUNK], v[3][CHUNK], distance2[CHUNK] = {0.0};
  random_words(b, first, n, word);
  for (int d = 0; d < dim; ++d)
    if (bath_axis(a, b, d, impulse ? impulse[d] : NULL, word[d], first, n, to[d], v[d]) > 0) return false;
  for (int d = 0; d < dim; ++d) {
    memcpy(a->to[d] + first, to[d], (size_t)n * sizeof(double));
    memcpy(a->v[d] + first, v[d], (size_t)n * sizeof(double));
    add_distances(a, d, to[d], first, n, distance2);
  }
  take_largest(distance2, largest2);
  return true;
}

/* ---- table ---- */

extern const kernels JOIN(md_openmp_kernels_, MD_ISA);
const kernels JOIN(md_openmp_kernels_, MD_ISA) = {
    .isa = STRING(MD_ISA),
    .lanes = MD_SINGLE_WIDTH,
    .list = build_list,
    .force =
        {
#define MD_PAIR_SHARED(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_CUT(symbol) [MD_PAIR_##symbol] = force_##symbol,
#define MD_PAIR_HYBRID(symbol) [MD_PAIR_##symbol] = force_hybrid,
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
#undef MD_PAIR_SHARED
#undef MD_PAIR_HYBRID
        },
    .force_virial =
        {
#define MD_PAIR_SHARED(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_CUT(symbol) [MD_PAIR_##symbol] = force_virial_##symbol,
#define MD_PAIR_HYBRID(symbol) [MD_PAIR_##symbol] = force_virial_hybrid,
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
#undef MD_PAIR_SHARED
#undef MD_PAIR_HYBRID
        },
    .output =
        {
#define MD_PAIR_SHARED(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_CUT(symbol) [MD_PAIR_##symbol] = output_##symbol,
#define MD_PAIR_HYBRID(symbol) [MD_PAIR_##symbol] = output_hybrid,
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
#undef MD_PAIR_SHARED
#undef MD_PAIR_HYBRID
        },
    .measure =
        {
#define MD_PAIR_SHARED(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_CUT(symbol) [MD_PAIR_##symbol] = measure_##symbol,
#define MD_PAIR_HYBRID(symbol) [MD_PAIR_##symbol] = measure_hybrid,
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
#undef MD_PAIR_SHARED
#undef MD_PAIR_HYBRID
        },
    .tensor =
        {
#define MD_PAIR_SHARED(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_CUT(symbol) [MD_PAIR_##symbol] = tensor_##symbol,
#define MD_PAIR_HYBRID(symbol) [MD_PAIR_##symbol] = tensor_hybrid,
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
#undef MD_PAIR_SHARED
#undef MD_PAIR_HYBRID
        },
    .half_list = build_half_list,
    .half_force = half_force,
    .half_impulse_virial = half_impulse_virial,
    .half_measure = half_measure,
    .half_lanes = MD_SIMD_WIDTH,
    .scale = scale,
    .kinetic = kinetic,
    .move = move,
    .move_in_bath = move_in_bath,
    .bonds = bond_impulses,
    .density = density_chunk,
    .three_body_sums = three_body_sums,
    .visited_force = visited_force,
    .visited_output = visited_output,
    .visited_measure = visited_measure,
    .visited_tensor = visited_tensor,
    .half_density = half_density,
    .half_density_force = half_density_force,
    .half_density_measure = half_density_measure,
};
