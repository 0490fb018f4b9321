/* The two passes of a step for pair styles with a density (common/pair/tables/eam.h), for a vector of particles
 * at once.
 *
 * Lane l is a particle of a block, and every row of the block's list gives it one partner. Distances, places in the
 * tables and polynomials are computed in vectors, with the arithmetic of common/pair/tables/eam.h in the same order.
 * The rows of the tables are loaded lane by lane, 32 bytes each, and transposed.
 *
 * Sums are of integers: a term is rounded by adding MD_ROUND, and the bits are added (common/arithmetic/exact.h). This
 * rounding needs terms below MD_ROUND_RANGE. The functions return false where a term was larger, or particles overlap;
 * then the particles are done again one pair at a time.
 *
 * Trade-off: lanes whose partner is beyond the cutoff wait, about two of five with usual skins. Packing the others
 * first would cost a pass over a buffer.
 * Cost: for a row and lane 3 loads of a word and one of a row of four in pass 1, 4 and 2 in pass 2 (3 in alloys).
 */
#ifndef MD_OPENMP_FORCE_DENSITY_VECTORS_H
#define MD_OPENMP_FORCE_DENSITY_VECTORS_H

#include "openmp/force/kernels.h"
#include "openmp/force/simd.h"

/* The partners that the lanes have in a row of the list. */
typedef struct lane_pairs {
  const int32_t *j;
  simd_d delta[3], r2;
  simd_d inverse, p;            /* 1/r and the fraction of the interval, as md_eam_point has them */
  int32_t row[MD_SIMD_WIDTH];   /* of the table at the element of the lane by that of the partner */
  int32_t other[MD_SIMD_WIDTH]; /* at that of the partner by that of the lane */
} lane_pairs;

/* The elements of the particles of the lanes; 0 after the last owned particle. */
MD_FN void lane_elements(const visit_args *a, int64_t i, int32_t *element)
{
  for (int l = 0; l < MD_SIMD_WIDTH; ++l)
    element[l] = i + l < a->total ? a->eam->element[a->type[i + l] - 1] : 0;
}

/* Rows in the tables of pairs of elements. */
MD_FN void lane_alloys(const visit_args *a, const int32_t *element, lane_pairs *to)
{
  const md_eam *eam = a->eam;
  for (int l = 0; l < MD_SIMD_WIDTH; ++l) {
    const int32_t of = to->j[l] < a->total ? eam->element[a->type[to->j[l]] - 1] : 0;
    to->other[l] = (int32_t)md_eam_row(eam, of, element[l], to->row[l]);
    to->row[l] = (int32_t)md_eam_row(eam, element[l], of, to->row[l]);
  }
}

/* Fills inverse, p, row and other from r2, for one element. */
MD_FN void spline_places(const md_eam *eam, lane_pairs *to)
{
  to->inverse = md_rsqrt_v(to->r2);
  const simd_d x = to->r2 * to->inverse * simd_set(eam->per_r);
  const simd_d whole = md_floor_v(simd_min(x, simd_set((double)(eam->nr - 2))));
  to->p = simd_min(x - whole, simd_set(1.0));
  const simd_x row = simd_index_of(whole);
  memcpy(to->row, &row, sizeof to->row);
  memcpy(to->other, &row, sizeof to->other);
}

MD_FN void lane_places(const visit_args *a, const simd_d *xi, const int32_t *element, const int32_t *entry,
                       lane_pairs *to)
{
  const md_eam *eam = a->eam;
  const int dim = a->model->box.dim;
  const simd_x j = simd_load_x(entry);
  to->r2 = simd_set(0.0);
  for (int d = 0; d < dim; ++d) {
    to->delta[d] = xi[d] - simd_gather(a->x[d], j);
    to->r2 = simd_fma(to->delta[d], to->delta[d], to->r2);
  }
  to->j = entry;
  spline_places(eam, to);
  if (eam->nelement > 1) lane_alloys(a, element, to);
}

/* a p^3 + b p^2 + c p + d, and a p^2 + b p + c. */
MD_FN simd_d spline_value_v(const simd_d s[4], simd_d p)
{
  return simd_fma(simd_fma(simd_fma(s[0], p, s[1]), p, s[2]), p, s[3]);
}
MD_FN simd_d spline_slope_v(const simd_d s[4], simd_d p)
{
  return simd_fma(simd_fma(s[0], p, s[1]), p, s[2]);
}
MD_FN simd_d spline_rise_v(const simd_d s[4], simd_d p)
{
  return simd_fma(simd_fma(simd_set(3.0) * s[0], p, s[1] + s[1]), p, s[2]);
}

/* May the sums be used? most2: the largest square of a term; least: the least squared distance of a pair. */
MD_FN bool vectors_do(const md_eam *eam, simd_d most2, simd_d least)
{
  return -simd_least(simd_set(0.0) - most2) < 0.5 * MD_ROUND_RANGE * MD_ROUND_RANGE &&
         !(simd_least(least) < eam->overlap2);
}

/* The densities at the particles from i on, in quanta. */
MD_FN bool density_lanes(const visit_args *a, int64_t i, const int32_t *entry, int32_t rows, int64_t *count)
{
  const md_eam *eam = a->eam;
  const simd_d rounder = simd_set(MD_ROUND), quanta = simd_set(eam->quanta), cutoff2 = simd_set(eam->cutoff2);
  simd_d xi[3], most2 = simd_set(0.0), least = simd_set(MD_FAR);
  simd_i sum = simd_zero_i();
  int32_t element[MD_SIMD_WIDTH];
  lane_elements(a, i, element);
  for (int d = 0; d < a->model->box.dim; ++d) xi[d] = simd_load(a->x[d] + i);
  for (int32_t r = 0; r < rows; ++r) {
    lane_pairs pair;
    simd_d s[4];
    lane_places(a, xi, element, entry + (int64_t)r * BLOCK, &pair);
    simd_load_records(eam->density, pair.row, s);
    const simd_d term = simd_keep(simd_less(pair.r2, cutoff2), spline_value_v(s, pair.p) * quanta);
    least = simd_min(least, pair.r2);
    most2 = md_max_v(most2, term * term);
    sum = simd_add_bits(sum, term + rounder);
  }
  simd_store_i(count, sum);
  for (int l = 0; l < MD_SIMD_WIDTH; ++l)
    count[l] = (int64_t)((uint64_t)count[l] - (uint64_t)rows * (uint64_t)md_bits(MD_ROUND));
  return vectors_do(eam, most2, least);
}

/* F/r of the lanes' pairs, times the scale (md_eam_force_at). slope_b: of the partners. */
MD_FN simd_d density_force_v(const visit_args *a, const lane_pairs *pair, simd_d slope, simd_d slope_b)
{
  const md_eam *eam = a->eam;
  int32_t at[MD_SIMD_WIDTH];
  simd_d z[4], at_a[4], at_b[4];
  for (int l = 0; l < MD_SIMD_WIDTH; ++l) at[l] = 2 * pair->row[l];
  simd_load_records(eam->force, at, at_a);
  simd_load_records(eam->force + MD_SPLINE, at, z);
  if (eam->nelement > 1) {
    for (int l = 0; l < MD_SIMD_WIDTH; ++l) at[l] = 2 * pair->other[l];
    simd_load_records(eam->force, at, at_b);
  }
  const simd_d phi = spline_value_v(z, pair->p) * pair->inverse;
  const simd_d phi_slope = md_fms_v(spline_rise_v(z, pair->p), simd_set(eam->per_r), phi) * pair->inverse;
  const simd_d by_a = slope * spline_slope_v(at_a, pair->p);
  const simd_d by_b = slope_b * spline_slope_v(eam->nelement > 1 ? at_b : at_a, pair->p);
  return simd_set(a->scale) * ((simd_set(0.0) - ((by_a + by_b) + phi_slope)) * pair->inverse);
}

/* The impulses on the particles from i on, to[d][lane]. */
MD_FN bool density_impulse_lanes(const visit_args *a, int64_t i, const int32_t *entry, int32_t rows,
                                 double *const to[3])
{
  const md_eam *eam = a->eam;
  const int dim = a->model->box.dim;
  const simd_d rounder = simd_set(MD_ROUND), cutoff2 = simd_set(eam->cutoff2),
               slope = simd_load(a->slope + i);
  simd_d xi[3], most2 = simd_set(0.0), least = simd_set(MD_FAR);
  simd_i sum[3];
  int32_t element[MD_SIMD_WIDTH];
  lane_elements(a, i, element);
  for (int d = 0; d < dim; ++d) {
    xi[d] = simd_load(a->x[d] + i);
    sum[d] = simd_zero_i();
  }
  for (int32_t r = 0; r < rows; ++r) {
    lane_pairs pair;
    lane_places(a, xi, element, entry + (int64_t)r * BLOCK, &pair);
    const simd_d slope_b = simd_gather(a->slope, simd_load_x(pair.j));
    const simd_d f = simd_keep(simd_less(pair.r2, cutoff2), density_force_v(a, &pair, slope, slope_b));
    least = simd_min(least, pair.r2);
    most2 = md_max_v(most2, f * f * pair.r2);
    for (int d = 0; d < dim; ++d) sum[d] = simd_add_bits(sum[d], simd_fma(f, pair.delta[d], rounder));
  }
  const uint64_t bias = (uint64_t)rows * (uint64_t)md_bits(MD_ROUND);
  for (int d = 0; d < dim; ++d) simd_store(to[d], simd_difference(sum[d], bias));
  return vectors_do(eam, most2, least);
}

#endif
