/* Half lists: each pair of owned particles of a thread is in the list once, and is evaluated once. kernels.c includes
 * this file once for each instruction set.
 *
 * The list. Every particle has a row of its own, in two parts. Each part is filled up to whole vectors with the
 * indices of the thread's far particles:
 *
 *      own      j > i, of the same thread: the impulse of the pair is added to i and subtracted from j
 *      foreign  of other threads, and ghosts: the impulse is added to i; the row of j has the pair too, or that of
 *               the particle of which j is an image
 *
 * No thread writes to a particle of another one. Sums of impulses are sums of integers, so that their order and the
 * threads' borders decide nothing. A thread takes its rows in ascending order. When it has done row i, the impulse on
 * i is complete, because all rows that add to it are before.
 *
 * Positions and impulses are in records of four words of 64 bits: x, y, z and the type; the impulse's components and
 * the number of terms, each of which left the bits of MD_ROUND in the components. A record is one load or store of a
 * cache line, where separate arrays take three.
 *
 * Rows are taken in batches through three short loops over a buffer that stays in the first-level cache: distances,
 * formula, sums. In one loop a vector's chain of about 100 cycles would wait for itself: the registers have room for
 * two and a half chains.
 *
 * Trade-off: half of the arithmetic and half of the list of kernels.h, for a load, a subtraction and a store for each
 * pair. Borders between threads cost pairs that are evaluated twice. Where particles have few neighbours, filling up
 * rows costs more than the halves save, so that full lists are better there.
 *
 * Cost: 64 bytes a particle for the records, 8 for the lengths of rows, 4 for each pair; about 25 vector operations
 * for MD_SIMD_WIDTH pairs and 3 operations for each pair.
 */
#ifndef MD_OPENMP_FORCE_HALF_KERNELS_H
#define MD_OPENMP_FORCE_HALF_KERNELS_H

#include "openmp/force/kernels.h"
#include "openmp/force/simd.h"

/* ---- list ---- */

/* The candidates of the particles of one cell, of which those in `own` may lie before the particle. */
typedef struct half_stencil {
  int64_t cell, candidates;
  ranges own, foreign, ghost;
} half_stencil;

MD_FN void clip(ranges *r, int64_t first, int64_t last, int64_t from, int64_t to)
{
  if (first < from) first = from;
  if (last > to) last = to;
  if (first >= last) return;
  r->first[r->n] = (int32_t)first;
  r->last[r->n++] = (int32_t)last;
}

/* i: the first particle of the cell whose row is built. No particle before it is needed from the same thread. */
MD_FN void half_stencil_move(half_stencil *s, const list_args *a, int64_t cell, int64_t i)
{
  const int64_t nx = a->grid->count[0], nxy = nx * a->grid->count[1];
  s->cell = cell;
  s->own.n = s->foreign.n = s->ghost.n = 0;
  s->candidates = 0;
  for (int dz = -1; dz <= 1; ++dz)
    for (int dy = -1; dy <= 1; ++dy) {
      const int64_t row = cell + dz * nxy + dy * nx;
      const int64_t first = a->owned->start[row - 1], last = a->owned->start[row + 2];
      clip(&s->own, first, last, i, a->last);
      clip(&s->foreign, first, last, 0, a->first);
      clip(&s->foreign, first, last, a->last, a->n);
      s->candidates += last - first;
      s->candidates += ranges_add(&s->ghost, a->ghost, row, false);
    }
}

/* Appends the particles of the ranges from `from` on that are within reach of xi. Takes those out that bonds exclude
 * for particle i, and fills up to whole vectors. Returns the number of vectors. */
MD_FN int32_t half_part(const list_args *a, const simd_f *xi, simd_f reach2, const ranges *r, int32_t found,
                        int64_t i, int64_t from, int32_t *out)
{
  const float *const x[3] = {a->x[0], a->x[1], a->x[2]};
  for (int k = 0; k < r->n; ++k) {
    const int32_t first = r->first[k] > (int32_t)from ? r->first[k] : (int32_t)from;
    if (first < r->last[k])
      found += scan_range(3, xi, reach2, x, first, r->last[k], NULL, 0, -1, out + found);
  }
  if (a->nexcluded > 0) found = leave_out(a, i, out, found);
  if (a->molecule) found = leave_molecules_out(a, i, out, found);
  for (int l = 0; l < MD_SIMD_WIDTH; ++l) out[found + l] = a->far + l;
  return (found + MD_SIMD_WIDTH - 1) / MD_SIMD_WIDTH;
}

/* Returns whether ghosts are near. */
MD_FN bool half_row(const list_args *a, const half_stencil *s, int64_t i, int32_t *out, int32_t *parts_of_row)
{
  const simd_f reach2 = single_set(a->reach2);
  const float *const ghost_x[3] = {a->ghost_x[0], a->ghost_x[1], a->ghost_x[2]};
  simd_f xi[3];
  for (int d = 0; d < 3; ++d) xi[d] = single_set(a->x[d][i]);
  parts_of_row[0] = half_part(a, xi, reach2, &s->own, 0, i, i + 1, out);
  out += parts_of_row[0] * MD_SIMD_WIDTH;
  int32_t found = 0;
  for (int r = 0; r < s->ghost.n; ++r)
    found += scan_range(3, xi, reach2, ghost_x, s->ghost.first[r], s->ghost.last[r], a->ghost->order,
                        (int32_t)a->n, -1, out + found);
  parts_of_row[1] = half_part(a, xi, reach2, &s->foreign, found, i, 0, out);
  return found > 0;
}

static bool build_half_list(const list_args *a, int64_t first, int64_t last, arena *memory, int32_t *rows,
                            bool *inner)
{
  half_stencil s = {.cell = -1};
  *inner = true;
  for (int64_t i = first; i < last; ++i) {
    const int32_t cell = a->owned->cell[i];
    if (cell != s.cell) half_stencil_move(&s, a, cell, i);
    /* Room for a whole vector of the search, and for filling up both parts. */
    const int64_t need = memory->used + s.candidates + MD_SINGLE_WIDTH + 3 * MD_SIMD_WIDTH;
    if (need > memory->capacity && !grow(&memory->entry, &memory->capacity, need)) return false;
    int32_t *length = rows + 2 * (i - first);
    if (half_row(a, &s, i, memory->entry + memory->used, length)) *inner = false;
    memory->used += (int64_t)(length[0] + length[1]) * MD_SIMD_WIDTH;
  }
  return true;
}

/* ---- batches ---- */

/* Vectors of a batch, and spans: a span is a row, or a piece of it if the batch ends within. */
enum { VECTORS = 320 / MD_SIMD_WIDTH, SPANS = 16 };

typedef struct span {
  int64_t i;
  const int32_t *entry;
  int32_t own, foreign; /* vectors */
} span;

/* w: the components of the distance, and its square, which the formula replaces by the force over the distance. They
 * are side by side, because four arrays of the same alignment would share sets of the cache. pair: of types, or the
 * slopes of partners (half_density.h). */
typedef struct batch {
  int nspan, n;
  span span[SPANS];
  simd_d w[VECTORS][4], pair[VECTORS], energy[VECTORS], virial[VECTORS];
} batch;

/* What is left of a chunk's rows. */
typedef struct rows_left {
  int64_t i, last;
  const int32_t *entry, *rows;
  int32_t own, foreign; /* of row i, vectors */
} rows_left;

MD_FN rows_left rows_of(int64_t first, int64_t last, const int32_t *entry, const int32_t *rows)
{
  return (rows_left){first, last, entry, rows + 2, rows[0], rows[1]};
}

/* Returns false if nothing is left. */
MD_FN bool next_batch(rows_left *left, batch *b)
{
  b->nspan = b->n = 0;
  while (b->nspan < SPANS && b->n < VECTORS && left->i < left->last) {
    const int32_t room = VECTORS - b->n, own = left->own < room ? left->own : room;
    const int32_t foreign = left->foreign < room - own ? left->foreign : room - own;
    b->span[b->nspan++] = (span){left->i, left->entry, own, foreign};
    b->n += own + foreign;
    left->entry += (own + foreign) * MD_SIMD_WIDTH;
    left->own -= own;
    left->foreign -= foreign;
    if (left->own > 0 || left->foreign > 0) continue;
    if (++left->i == left->last) break;
    left->own = left->rows[0];
    left->foreign = left->rows[1];
    left->rows += 2;
  }
  return b->n > 0 || left->i < left->last;
}

/* Entries. The list of a chunk follows that of the chunk before. A processor fetches by itself what is read in order,
 * but it begins anew with each page. */
enum { LIST_AHEAD = 512 };

/* Loop 1: distances. fourth: pair gets the fourth word of j and `factor` times that of i. */
MD_FN void batch_distances(const force_args *a, bool fourth, double factor, batch *b)
{
  simd_d(*w)[4] = b->w;
  simd_d *pair = b->pair;
  for (const span *s = b->span; s < b->span + b->nspan; ++s) {
    const double *xi = a->record + 4 * s->i;
    const simd_d x = simd_set(xi[0]), y = simd_set(xi[1]), z = simd_set(xi[2]);
    const simd_d of_i = simd_set(fourth ? xi[3] * factor : 0.0);
    const int32_t *end = s->entry + (s->own + s->foreign) * MD_SIMD_WIDTH;
    for (const int32_t *j = s->entry; j < end; j += MD_SIMD_WIDTH, ++w) {
      fetch_line(j + LIST_AHEAD);
      simd_d xj[4];
      simd_load_records(a->record, j, xj);
      const simd_d dx = x - xj[0], dy = y - xj[1], dz = z - xj[2];
      (*w)[0] = dx, (*w)[1] = dy, (*w)[2] = dz;
      (*w)[3] = simd_fma(dz, dz, simd_fma(dy, dy, dx * dx));
      if (fourth) *pair++ = of_i + xj[3];
    }
  }
}

/* Loop 3: rounds the impulses, adds them to i, and subtracts those of own pairs from j. */
MD_FN void batch_sums(const force_args *a, const batch *b)
{
  const simd_d round = simd_set(MD_ROUND);
  const simd_d(*w)[4] = b->w;
  for (const span *s = b->span; s < b->span + b->nspan; ++s) {
    simd_i sum[3] = {simd_zero_i(), simd_zero_i(), simd_zero_i()};
    const int32_t *j = s->entry, *end = j + s->own * MD_SIMD_WIDTH;
    for (; j < end; j += MD_SIMD_WIDTH, ++w) {
      simd_i term[4] = {simd_zero_i(), simd_zero_i(), simd_zero_i(), simd_set_i(1)};
      for (int d = 0; d < 3; ++d) {
        const simd_d rounded = simd_fma((*w)[3], (*w)[d], round);
        sum[d] = simd_add_bits(sum[d], rounded);
        term[d] = simd_bits(rounded);
      }
      simd_subtract_records(a->sum, j, term);
    }
    for (int32_t v = 0; v < s->foreign; ++v, ++w)
      for (int d = 0; d < 3; ++d) sum[d] = simd_add_bits(sum[d], simd_fma((*w)[3], (*w)[d], round));
    int64_t *to = a->sum + 4 * s->i;
    for (int d = 0; d < 3; ++d) to[d] = (int64_t)((uint64_t)to[d] + (uint64_t)simd_sum_i(sum[d]));
    to[3] += (int64_t)(s->own + s->foreign) * MD_SIMD_WIDTH;
  }
}

/* ---- formulas: loop 2, for each style ---- */

/* Forces over distances, into w[3]. Pairs nearer than near2 get none. Returns the least squared distances. */
typedef simd_d (*batch_force)(const force_args *, batch *);
/* Energies, and the virials f r^2. */
typedef simd_d (*batch_energy)(const force_args *, batch *);

MD_FN simd_d force_of_batch(const force_args *a, force_formula formula, bool typed, batch *b)
{
  simd_d k[MD_PAIR_K], least = simd_set(MD_FAR);
  const simd_d near2 = simd_set(a->near2);
  const int n = b->n;
  broadcast_coefficients(a, k);
  for (int m = 0; m < n; ++m) {
    const simd_d r2 = b->w[m][3];
    if (typed) load_coefficients(a, simd_index_of(b->pair[m]), k);
    least = simd_min(least, r2);
    b->w[m][3] = simd_keep(simd_less(near2, r2), simd_keep(simd_less(r2, k[0]), formula(r2, k)));
  }
  return least;
}

MD_FN simd_d energy_of_batch(const force_args *a, force_formula force, energy_formula energy, batch *b)
{
  simd_d k[MD_PAIR_K], least = simd_set(MD_FAR);
  const bool typed = a->type != NULL;
  broadcast_coefficients(a, k);
  for (int m = 0; m < b->n; ++m) {
    const simd_d r2 = b->w[m][3];
    if (typed) load_coefficients(a, simd_index_of(b->pair[m]), k);
    least = simd_min(least, r2);
    const simd_m near = simd_less(r2, k[0]);
    b->energy[m] = simd_keep(near, energy(r2, k));
    b->virial[m] = simd_keep(near, force(r2, k) * r2);
  }
  return least;
}

#define MD_PAIR_SHARED(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_CUT(symbol)                                                                                  \
  static simd_d batch_force_##symbol(const force_args *a, batch *b)                                          \
  {                                                                                                          \
    if (a->type) return force_of_batch(a, md_##symbol##_force_v, true, b);                                   \
    return force_of_batch(a, md_##symbol##_force_v, false, b);                                               \
  }                                                                                                          \
  static simd_d batch_energy_##symbol(const force_args *a, batch *b)                                         \
  {                                                                                                          \
    return energy_of_batch(a, md_##symbol##_force_v, md_##symbol##_energy_v, b);                             \
  }
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT

/* Adds the terms of one plane of sub-styles (common/pair/hybrid/hybrid.h) to sum[]. */
typedef void (*batch_terms)(const double *plane, bool typed, const batch *b, simd_d *sum);

MD_FN void terms_of_batch(const double *plane, force_formula formula, bool typed, const batch *b, simd_d *sum)
{
  simd_d k[MD_PAIR_K];
  const int n = b->n;
  for (int c = 0; c < MD_PAIR_K; ++c) k[c] = simd_set(plane[c]);
  for (int m = 0; m < n; ++m) {
    const simd_d r2 = b->w[m][3];
    if (typed) {
      const simd_x at = simd_scale_x(simd_index_of(b->pair[m]), MD_PAIR_K);
      k[0] = simd_gather(plane, at);
      if (!(simd_least(r2 - k[0]) < 0.0)) continue;
      for (int c = 1; c < MD_PAIR_K; ++c) k[c] = simd_gather(plane + c, at);
    }
    sum[m] = sum[m] + simd_keep(simd_less(r2, k[0]), formula(r2, k));
  }
}

#define MD_PAIR_CUT(symbol)                                                                                  \
  static void batch_terms_##symbol(const double *plane, bool typed, const batch *b, simd_d *sum)             \
  {                                                                                                          \
    if (typed)                                                                                               \
      terms_of_batch(plane, md_##symbol##_force_v, true, b, sum);                                            \
    else                                                                                                     \
      terms_of_batch(plane, md_##symbol##_force_v, false, b, sum);                                           \
  }
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT

static const batch_terms terms_of_styles[MD_PAIR_KINDS] = {
#define MD_PAIR_CUT(symbol) [MD_PAIR_##symbol] = batch_terms_##symbol,
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
};

/* A batch goes through the planes one by one, so that a formula's numbers stay in registers. */
static simd_d batch_force_hybrid(const force_args *a, batch *b)
{
  simd_d sum[VECTORS], least = simd_set(MD_FAR);
  const simd_d near2 = simd_set(a->near2);
  const int64_t stride = (int64_t)a->k[MD_HYBRID_STRIDE];
  const double *plane = a->k;
  for (int m = 0; m < b->n; ++m) sum[m] = simd_set(0.0);
  for (int s = 0; s < (int)a->k[MD_HYBRID_SUBS]; ++s) {
    plane += stride;
    terms_of_styles[(int)plane[MD_PAIR_FORMULA]](plane, a->type != NULL, b, sum);
  }
  for (int m = 0; m < b->n; ++m) {
    const simd_d r2 = b->w[m][3];
    least = simd_min(least, r2);
    b->w[m][3] = simd_keep(simd_less(near2, r2), sum[m]);
  }
  return least;
}

static simd_d batch_energy_hybrid(const force_args *a, batch *b)
{
  return energy_of_batch(a, md_hybrid_force_v, md_hybrid_energy_v, b);
}

static const batch_force batch_forces[MD_PAIR_KINDS] = {
#define MD_PAIR_CUT(symbol) [MD_PAIR_##symbol] = batch_force_##symbol,
#define MD_PAIR_HYBRID(symbol) [MD_PAIR_##symbol] = batch_force_hybrid,
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
#undef MD_PAIR_HYBRID
};
static const batch_energy batch_energies[MD_PAIR_KINDS] = {
#define MD_PAIR_CUT(symbol) [MD_PAIR_##symbol] = batch_energy_##symbol,
#define MD_PAIR_HYBRID(symbol) [MD_PAIR_##symbol] = batch_energy_hybrid,
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
#undef MD_PAIR_HYBRID
#undef MD_PAIR_SHARED
};

/* ---- chunks ---- */

/* Adds the terms of the virial of impulses of one vector to sum[]: of r.f, or of its components along the axes. */
MD_FN void add_impulse_terms(const simd_d *w, bool axes, simd_d rounder, simd_i sum[3])
{
  const simd_m acts = simd_less(simd_set(0.0), w[3] * w[3]);
  const simd_d r2 = simd_fma(w[2], w[2], simd_fma(w[1], w[1], w[0] * w[0]));
  if (!axes) sum[0] = simd_add_bits(sum[0], simd_fma(simd_keep_odd(acts, w[3]), r2, rounder));
  for (int d = 0; axes && d < 3; ++d)
    sum[d] = simd_add_bits(sum[d], simd_fma(simd_keep_odd(acts, w[3] * w[d]), w[d], rounder));
}

/* Adds those of all vectors of the batch, whose forces are known. Pairs of own particles count for both. */
MD_FN void add_impulse_virial(const force_args *a, const batch *b, bool axes, md_measure *m)
{
  const simd_d rounder = simd_set(a->virial_rounder);
  simd_i own[3], foreign[3];
  int32_t nown = 0, nforeign = 0;
  const simd_d(*w)[4] = b->w;
  for (int d = 0; d < 3; ++d) own[d] = foreign[d] = simd_zero_i();
  for (const span *s = b->span; s < b->span + b->nspan; ++s) {
    for (int32_t v = 0; v < s->own; ++v) add_impulse_terms(*w++, axes, rounder, own);
    for (int32_t v = 0; v < s->foreign; ++v) add_impulse_terms(*w++, axes, rounder, foreign);
    nown += s->own;
    nforeign += s->foreign;
  }
  /* Below 2^59, since a term is below 2^49, and a batch has 320 pairs. */
  const uint64_t bias = (uint64_t)md_bits(a->virial_rounder) * MD_SIMD_WIDTH;
  for (int c = 0; c < (axes ? 3 : 1); ++c) {
    const uint64_t of_own = (uint64_t)simd_sum_i(own[c]) - bias * (uint64_t)nown;
    const uint64_t of_foreign = (uint64_t)simd_sum_i(foreign[c]) - bias * (uint64_t)nforeign;
    md_wide_add(axes ? &m->tensor2[c] : &m->virial2,
                md_fine_count((md_fine){(int64_t)(2 * of_own + of_foreign), 0}));
  }
}

static void half_virial(const force_args *a, const batch *b, md_measure *m)
{
  if (a->axes)
    add_impulse_virial(a, b, true, m);
  else
    add_impulse_virial(a, b, false, m);
}

static double half_force(const force_args *a, md_pair_kind kind, int64_t first, int64_t last,
                         const int32_t *entry, const int32_t *rows, md_measure *m)
{
  simd_d least = simd_set(MD_FAR);
  batch b;
  for (rows_left left = rows_of(first, last, entry, rows); next_batch(&left, &b);) {
    if (a->type)
      batch_distances(a, true, a->ntypes, &b);
    else
      batch_distances(a, false, 0.0, &b);
    least = simd_min(least, batch_forces[kind](a, &b));
    if (m) half_virial(a, &b, m);
    batch_sums(a, &b);
  }
  return simd_least(least);
}

/* Sums over vectors of own pairs, which count for both particles, and of others. */
typedef struct half_sums {
  fine_lanes own, foreign;
  int32_t nown, nforeign;
} half_sums;

MD_FN void half_sums_total(const half_sums *s, md_wide *total)
{
  for (int side = 0; side < 2; ++side) fine_lanes_total(&s->own, s->nown, MD_SIMD_WIDTH, total);
  fine_lanes_total(&s->foreign, s->nforeign, MD_SIMD_WIDTH, total);
}

/* Adds one term of every vector of the batch, in coarse quanta of the scale. */
MD_FN void half_add(const batch *b, simd_d (*term)(const batch *, int m, int c), int c, double scale,
                    md_wide *total)
{
  half_sums sums = {{simd_zero_i(), simd_zero_i()}, {simd_zero_i(), simd_zero_i()}, 0, 0};
  int m = 0;
  for (const span *s = b->span; s < b->span + b->nspan; ++s) {
    for (const int end = m + s->own; m < end; ++m) fine_lanes_add(&sums.own, term(b, m, c), simd_set(scale));
    for (const int end = m + s->foreign; m < end; ++m)
      fine_lanes_add(&sums.foreign, term(b, m, c), simd_set(scale));
    sums.nown += s->own;
    sums.nforeign += s->foreign;
  }
  half_sums_total(&sums, total);
}

MD_FN simd_d energy_term(const batch *b, int m, int c)
{
  (void)c;
  return b->energy[m];
}

MD_FN simd_d virial_term(const batch *b, int m, int c)
{
  (void)c;
  return b->virial[m];
}

MD_FN simd_d tensor_term(const batch *b, int m, int c)
{
  return b->w[m][3] * b->w[m][md_tensor_row(c)] * b->w[m][md_tensor_column(c)];
}

static double half_impulse_virial(const force_args *a, md_pair_kind kind, int64_t first, int64_t last,
                                  const int32_t *entry, const int32_t *rows, md_measure *m)
{
  simd_d least = simd_set(MD_FAR);
  batch b;
  for (rows_left left = rows_of(first, last, entry, rows); next_batch(&left, &b);) {
    batch_distances(a, a->type != NULL, a->ntypes, &b);
    least = simd_min(least, batch_forces[kind](a, &b));
    half_virial(a, &b, m);
  }
  return simd_least(least);
}

static double half_measure(const force_args *a, md_pair_kind kind, bool tensor, int64_t first, int64_t last,
                           const int32_t *entry, const int32_t *rows, md_measure *m)
{
  simd_d least = simd_set(MD_FAR);
  batch b;
  for (rows_left left = rows_of(first, last, entry, rows); next_batch(&left, &b);) {
    batch_distances(a, a->type != NULL, a->ntypes, &b);
    least = simd_min(least, tensor ? batch_forces[kind](a, &b) : batch_energies[kind](a, &b));
    for (int c = 0; tensor && c < MD_TENSOR; ++c) half_add(&b, tensor_term, c, a->per_w, &m->tensor2[c]);
    if (tensor) continue;
    half_add(&b, energy_term, 0, a->per_e, &m->pair_energy2);
    half_add(&b, virial_term, 0, a->per_w, &m->virial2);
  }
  return simd_least(least);
}

#endif
