/* Half lists for pair styles with a density of one element (common/pair/tables/eam.h). kernels.c includes this file
 * once for each instruction set.
 *
 * Both passes take rows in batches, as half_kernels.h does: distances, splines, sums. Each pair is evaluated once in
 * each pass. In pass 1 both particles get the same density, because they are of one element. In pass 2 the fourth word
 * of a record is the slope of the particle, so that it comes with the position. The force of a pair is symmetric to the
 * last bit.
 *
 * Sums are of integers, rounded by adding MD_ROUND. Where a term of a batch is too large for that, or particles
 * overlap, the batch is done one pair at a time, before anything of it has been added.
 *
 * Trade-off: as for other half lists. Elements of two kinds would need two densities a pair, and have full lists. Lanes
 * whose pair is beyond the cutoff wait, about two of five with usual skins.
 * Cost: for MD_SIMD_WIDTH pairs, 4 and 6 operations a lane for loads and sums, and some 30 and 60 in vectors.
 */
#ifndef MD_OPENMP_FORCE_HALF_DENSITY_H
#define MD_OPENMP_FORCE_HALF_DENSITY_H

#include "openmp/force/density_kernels.h"
#include "openmp/force/half_kernels.h"

MD_FN force_args records_of(const visit_args *a) { return (force_args){.record = a->record, .sum = a->sum}; }

/* ---- pass 1 ---- */

/* The densities of pairs, rounded, into w[0]. Returns whether they may be used. */
MD_FN bool densities_of_batch(const md_eam *eam, batch *b)
{
  const simd_d rounder = simd_set(MD_ROUND), quanta = simd_set(eam->quanta), cutoff2 = simd_set(eam->cutoff2);
  simd_d most2 = simd_set(0.0), least = simd_set(MD_FAR);
  for (int m = 0; m < b->n; ++m) {
    simd_d s[4];
    lane_pairs pair = {.r2 = b->w[m][3]};
    spline_places(eam, &pair);
    simd_load_records(eam->density, pair.row, s);
    const simd_d term = simd_keep(simd_less(pair.r2, cutoff2), spline_value_v(s, pair.p) * quanta);
    least = simd_min(least, pair.r2);
    most2 = md_max_v(most2, term * term);
    b->w[m][0] = term + rounder;
  }
  return vectors_do(eam, most2, least);
}

/* Adds to the first word of the record of a particle, whose sums may wrap around. */
MD_FN void add_count(const visit_args *a, int64_t i, uint64_t count)
{
  a->sum[4 * i] = (int64_t)((uint64_t)a->sum[4 * i] + count);
}

MD_FN void batch_counts(const visit_args *a, const batch *b)
{
  const uint64_t bias = (uint64_t)md_bits(MD_ROUND);
  const simd_i none = simd_set_i(-md_bits(MD_ROUND));
  const simd_d(*w)[4] = b->w;
  for (const span *s = b->span; s < b->span + b->nspan; ++s) {
    simd_i sum = simd_zero_i();
    const int32_t *j = s->entry, *end = j + s->own * MD_SIMD_WIDTH;
    for (; j < end; j += MD_SIMD_WIDTH, ++w) {
      int64_t term[MD_SIMD_WIDTH];
      sum = simd_add_bits(sum, (*w)[0]);
      simd_store_i(term, simd_add_bits(none, (*w)[0]));
      for (int l = 0; l < MD_SIMD_WIDTH; ++l) add_count(a, j[l], (uint64_t)term[l]);
    }
    for (int32_t v = 0; v < s->foreign; ++v, ++w) sum = simd_add_bits(sum, (*w)[0]);
    add_count(a, s->i, (uint64_t)simd_sum_i(sum) - (uint64_t)(s->own + s->foreign) * MD_SIMD_WIDTH * bias);
  }
}

/* ---- one pair at a time ---- */

/* Called for a pair of the batch. delta: from j to i. own: j gets its part too. */
typedef void (*batch_visit)(const visit_args *, int64_t i, int64_t j, const double *delta, double r2,
                            bool own, md_overlap *);

MD_FN void visit_batch(const visit_args *a, const batch *b, batch_visit visit, md_overlap *overlap)
{
  for (const span *s = b->span; s < b->span + b->nspan; ++s)
    for (int32_t k = 0; k < (s->own + s->foreign) * MD_SIMD_WIDTH; ++k) {
      const int64_t j = s->entry[k];
      double delta[3], r2 = 0.0;
      if (j >= a->total) continue;
      for (int d = 0; d < 3; ++d) {
        delta[d] = a->record[4 * s->i + d] - a->record[4 * j + d];
        r2 = fma(delta[d], delta[d], r2);
      }
      if (r2 < a->reach2) visit(a, s->i, j, delta, r2, k < s->own * MD_SIMD_WIDTH, overlap);
    }
}

MD_FN void count_pair(const visit_args *a, int64_t i, int64_t j, const double *delta, double r2, bool own,
                      md_overlap *overlap)
{
  (void)delta;
  (void)overlap;
  const uint64_t count = (uint64_t)md_density_term(a->eam, 0, 0, r2);
  add_count(a, i, count);
  if (own) add_count(a, j, count);
}

MD_FN void push_pair(const visit_args *a, int64_t i, int64_t j, const double *delta, double r2, bool own,
                     md_overlap *overlap)
{
  const md_pair_term pair = term_of(a, i, j, delta, r2);
  if (pair.overlap) {
    md_overlap_add(overlap, a->id[i], a->id[j], r2);
    return; /* its impulse is out of range */
  }
  for (int d = 0; d < 3; ++d) {
    const int64_t term = (int64_t)md_round_product(pair.f, delta[d]);
    a->sum[4 * i + d] += term;
    if (own) a->sum[4 * j + d] -= term;
  }
}

/* Adds the densities of the rows of a chunk to the first words of a.sum. */
static void half_density(const visit_args *a, int64_t first, int64_t last, const int32_t *entry,
                         const int32_t *rows)
{
  const force_args records = records_of(a);
  batch b;
  for (rows_left left = rows_of(first, last, entry, rows); next_batch(&left, &b);) {
    batch_distances(&records, false, 0.0, &b);
    if (densities_of_batch(a->eam, &b))
      batch_counts(a, &b);
    else
      visit_batch(a, &b, count_pair, NULL);
  }
}

/* ---- pass 2 ---- */

/* Forces over distances, into w[3]. Returns whether they may be used. */
MD_FN bool density_forces_of_batch(const visit_args *a, batch *b)
{
  const md_eam *eam = a->eam;
  const simd_d cutoff2 = simd_set(eam->cutoff2);
  simd_d most2 = simd_set(0.0), least = simd_set(MD_FAR);
  int m = 0;
  for (const span *s = b->span; s < b->span + b->nspan; ++s) {
    const simd_d slope = simd_set(a->record[4 * s->i + 3]);
    for (const int end = m + s->own + s->foreign; m < end; ++m) {
      lane_pairs pair = {.r2 = b->w[m][3]};
      spline_places(eam, &pair);
      const simd_d f = simd_keep(simd_less(pair.r2, cutoff2), density_force_v(a, &pair, slope, b->pair[m]));
      least = simd_min(least, pair.r2);
      most2 = md_max_v(most2, f * f * pair.r2);
      b->w[m][3] = f;
    }
  }
  return vectors_do(eam, most2, least);
}

/* Adds the impulses of the rows of a chunk to the records of a.sum. The fourth words of records are slopes. */
static void half_density_force(const visit_args *a, int64_t first, int64_t last, const int32_t *entry,
                               const int32_t *rows, md_overlap *overlap)
{
  const force_args records = records_of(a);
  batch b;
  for (rows_left left = rows_of(first, last, entry, rows); next_batch(&left, &b);) {
    batch_distances(&records, true, 0.0, &b);
    if (density_forces_of_batch(a, &b))
      batch_sums(&records, &b);
    else
      visit_batch(a, &b, push_pair, overlap);
  }
}

/* ---- output ---- */

/* Adds energies and virials of the pairs of a chunk to a measure, or with `tensor` the components of virials. Own pairs
 * count for both particles. */
static void half_density_measure(const visit_args *a, bool tensor, int64_t first, int64_t last,
                                 const int32_t *entry, const int32_t *rows, md_overlap *overlap,
                                 md_measure *to)
{
  for (int64_t i = first; i < last; ++i, rows += 2) {
    const int32_t own = rows[0] * MD_SIMD_WIDTH, all = own + rows[1] * MD_SIMD_WIDTH;
    visit_sums sums = {.overlap = overlap};
    for (int32_t k = 0; k < all; ++k)
      for (int side = k < own ? 0 : 1; side < 2; ++side)
        visit_lane(a, i, entry + k, 1, tensor ? visit_tensor : visit_energy, &sums);
    (tensor ? add_tensor : add_energy)(a, 0, &sums, to);
    entry += all;
  }
}

#endif
