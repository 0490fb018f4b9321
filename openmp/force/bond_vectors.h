/* Impulses of bonds for a vector of particles at once. kernels.c includes this file once for each instruction set.
 *
 * Lane l is a particle of a block, and each slot of bonds gives it at most one partner (common/bond/partners.h). A lane
 * without a bond in the slot takes itself for the partner, and its impulse is masked. The formulas are those of
 * common/bond, so that the bits are those of one bond at a time.
 *
 * Sums are of integers, as in the loops over pairs: a term is rounded by adding MD_ROUND, and its bits are added. This
 * needs terms below MD_ROUND_RANGE. Where a term is larger, a bond is too long, or a partner is missing, nothing is
 * added, and the caller does the chunk again one bond at a time.
 *
 * Trade-off: a bond is evaluated for both of its particles, so that no lane writes to another particle.
 * Cost: 3 gathers, a division, and about 40 operations for MD_SIMD_WIDTH slots.
 */
#ifndef MD_OPENMP_FORCE_BOND_VECTORS_H
#define MD_OPENMP_FORCE_BOND_VECTORS_H

#include "openmp/force/kernels.h"
#include "openmp/force/simd.h"

#define real simd_d
#define MD_T(name) name##_v
#include "common/bond/bond_styles.h"
#undef real
#undef MD_T

typedef simd_d (*bond_formula)(simd_d r2, const simd_d *k);

/* The bonds that the lanes have in one slot. */
typedef struct lane_bonds {
  int32_t j[MD_SIMD_WIDTH], k[MD_SIMD_WIDTH]; /* partners, and places of coefficients */
  double there[MD_SIMD_WIDTH];                /* 1, or 0 without a bond */
  int any, lost;                              /* number of bonds, and of partners that are missing */
} lane_bonds;

MD_FN void lane_bonds_of(const bond_args *a, int slot, int64_t i, lane_bonds *b)
{
  const int32_t *index = a->index[slot] + i;
  const uint16_t *type = a->type[slot] + i;
  b->any = b->lost = 0;
  for (int l = 0; l < MD_SIMD_WIDTH; ++l) {
    const bool there = index[l] >= 0;
    b->j[l] = there ? index[l] : (int32_t)i + l;
    b->k[l] = there ? type[l] * MD_BOND_K : 0;
    b->there[l] = there ? 1.0 : 0.0;
    b->any += there;
    b->lost += index[l] == MD_PARTNER_LOST;
  }
}

/* Adds the impulses on the particles from i on to the sums. *bad is not 0 in lanes with a bond that needs care. */
MD_FN void add_lane_bonds(const bond_args *a, bond_formula formula, int dim, int64_t i, const lane_bonds *b,
                          simd_i sum[3], simd_d *bad)
{
  const simd_d zero = simd_set(0.0), one = simd_set(1.0), rounder = simd_set(MD_ROUND);
  const simd_d most2 = simd_set(0.5 * MD_ROUND_RANGE * MD_ROUND_RANGE);
  const simd_m there = simd_less(zero, simd_load(b->there));
  const simd_x j = simd_load_x(b->j);
  simd_d delta[3], r2 = zero, k[MD_BOND_K];
  for (int d = 0; d < dim; ++d) {
    delta[d] = simd_load(a->x[d] + i) - simd_gather(a->x[d], j);
    r2 = simd_fma(delta[d], delta[d], r2);
  }
  for (int c = 0; c < MD_BOND_K; ++c)
    k[c] = a->ntypes == 1 ? simd_set(a->k[1][c]) : simd_gather(a->k[0] + c, simd_load_x(b->k));
  const simd_d f = formula(r2, k), size2 = simd_choose(simd_less(r2, k[0]), f * f * r2, most2);
  *bad = *bad + simd_keep(there, simd_choose(simd_less(size2, most2), zero, one));
  const simd_d kept = simd_keep(there, f);
  for (int d = 0; d < dim; ++d) sum[d] = simd_add_bits(sum[d], simd_fma(kept, delta[d], rounder));
}

MD_FN bool add_bonds(const bond_args *a, bond_formula formula, int dim, int64_t first, int64_t last,
                     double (*force)[CHUNK])
{
  double impulse[3][CHUNK];
  simd_d bad = simd_set(0.0);
  for (int64_t i = first; i < last; i += MD_SIMD_WIDTH) {
    simd_i sum[3] = {simd_zero_i(), simd_zero_i(), simd_zero_i()};
    uint64_t terms = 0;
    for (int slot = 0; slot < a->slots; ++slot) {
      lane_bonds b;
      lane_bonds_of(a, slot, i, &b);
      if (b.lost > 0) return false;
      if (b.any == 0) continue;
      add_lane_bonds(a, formula, dim, i, &b, sum, &bad);
      ++terms;
    }
    for (int d = 0; d < dim; ++d)
      simd_store(&impulse[d][i - first], simd_difference(sum[d], terms * (uint64_t)md_bits(MD_ROUND)));
  }
  if (simd_least(simd_set(0.0) - bad) < 0.0) return false;
  for (int d = 0; d < dim; ++d)
    for (int64_t i = 0; i < last - first; ++i) force[d][i] += impulse[d][i];
  return true;
}

static bool bond_impulses(const bond_args *a, int dim, int64_t first, int64_t last, double (*force)[CHUNK])
{
  if (a->kind == MD_BOND_fene && dim == 3) return add_bonds(a, md_fene_force_v, 3, first, last, force);
  if (a->kind == MD_BOND_fene) return add_bonds(a, md_fene_force_v, 2, first, last, force);
  if (dim == 3) return add_bonds(a, md_harmonic_force_v, 3, first, last, force);
  return add_bonds(a, md_harmonic_force_v, 2, first, last, force);
}

#endif
