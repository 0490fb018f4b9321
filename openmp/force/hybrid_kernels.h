/* Forces and energies of pair styles hybrid and hybrid/overlay (common/pair/hybrid/hybrid.h) for vectors of pairs.
 * kernels.c includes this file once for each instruction set.
 *
 * The lanes of a vector may have different sub-styles. So a vector goes through the planes of all sub-styles: the
 * formula of one style for all lanes, of which those with a term in the plane are kept.
 *
 * Trade-off: with n sub-styles a vector costs up to n formulas. Sorting pairs by sub-style would cost more, because a
 * model has few of them, and a plane without a term for any lane costs one gather.
 */
#ifndef MD_OPENMP_FORCE_HYBRID_KERNELS_H
#define MD_OPENMP_FORCE_HYBRID_KERNELS_H

#include "common/pair/hybrid/hybrid.h"
#include "openmp/force/simd.h"

/* The terms of a vector in one plane, 0 where a lane has none. row: the coefficients of the first lane's pair of types.
 * at: how many numbers after them those of each lane are. */
typedef simd_d (*plane_terms)(simd_d r2, const double *row, simd_x at);

#define TERMS_OF(what, symbol)                                                                               \
  static simd_d terms_##what##_##symbol(simd_d r2, const double *row, simd_x at)                             \
  {                                                                                                          \
    simd_d k[MD_PAIR_K];                                                                                     \
    k[0] = simd_gather(row, at);                                                                             \
    if (!(simd_least(r2 - k[0]) < 0.0)) return simd_set(0.0);                                                \
    for (int c = 1; c < MD_PAIR_K; ++c) k[c] = simd_gather(row + c, at);                                     \
    return simd_keep(simd_less(r2, k[0]), md_##symbol##_##what##_v(r2, k));                                  \
  }
#define MD_PAIR_SHARED(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_CUT(symbol) TERMS_OF(force, symbol) TERMS_OF(energy, symbol)
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT

static const plane_terms terms_force[MD_PAIR_KINDS] = {
#define MD_PAIR_CUT(symbol) [MD_PAIR_##symbol] = terms_force_##symbol,
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
};
static const plane_terms terms_energy[MD_PAIR_KINDS] = {
#define MD_PAIR_CUT(symbol) [MD_PAIR_##symbol] = terms_energy_##symbol,
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
#undef MD_PAIR_SHARED
};

/* k: coefficients of heads. Only the address of each head is read, so that the others are not loaded. */
MD_FN simd_d sum_of_planes(const plane_terms *of, simd_d r2, const simd_d *k)
{
  double lane[MD_SIMD_WIDTH];
  simd_store(lane, k[MD_HYBRID_ADDRESS]);
  const double *row = (const double *)(uintptr_t)lane[0];
  const int64_t stride = (int64_t)row[MD_HYBRID_STRIDE];
  const int subs = (int)row[MD_HYBRID_SUBS];
  const simd_x at =
      simd_index_of((k[MD_HYBRID_ADDRESS] - simd_set(lane[0])) * simd_set(1.0 / sizeof(double)));
  simd_d sum = simd_set(0.0);
  for (int s = 0; s < subs; ++s) {
    row += stride;
    sum = sum + of[(int)row[MD_PAIR_FORMULA]](r2, row, at);
  }
  return sum;
}

MD_FN simd_d md_hybrid_force_v(simd_d r2, const simd_d *k) { return sum_of_planes(terms_force, r2, k); }
MD_FN simd_d md_hybrid_energy_v(simd_d r2, const simd_d *k) { return sum_of_planes(terms_energy, r2, k); }

#endif
