/* Pair styles without a cutoff: what the engines that compute all pairs share. C and CUDA.
 *
 * The coefficients of a pair follow from the two masses, m_i and m_j, and from one row of coefficients for unit masses
 * (pair.h): k1 = -(m_i c)(m_j c) for forces, and k4 times m_i m_j for energies. The products are rounded in this order
 * by every engine, and by md_pair_table.
 *
 * An overlap is a pair whose impulse is out of range, or two particles without softening at the same place. The range
 * is MD_ALL_RANGE quanta along an axis, or MD_ALL_WIDE_RANGE if momenta are wide: the sums are integers of 64 bits,
 * and only a wide momentum takes in more than 2^53 quanta. Output finds the same overlaps by the force
 * (md_model.force_range), up to the rounding of a force at the end of the range.
 */
#ifndef MD_COMMON_PAIR_ALL_PAIRS_H
#define MD_COMMON_PAIR_ALL_PAIRS_H

#include "common/arithmetic/real.h"
#include "common/pair/pair.h"

#define MD_ALL_RANGE 0x1p52
#define MD_ALL_WIDE_RANGE 0x1p60

/* The range of a pair's impulse, in quanta. wide: do momenta have two words? */
static inline double md_all_range(bool wide) { return wide ? MD_ALL_WIDE_RANGE : MD_ALL_RANGE; }

/* The coefficients of a pair of charges qi and qj, masses times c; k: those of unit masses. */
MD_FN void md_all_coefficients(const double *unit_k, double qi, double qj, double *k)
{
  for (int c = 0; c < MD_PAIR_K; ++c) k[c] = unit_k[c];
  k[1] = -(qi * qj);
}

/* The same of two masses, with the coefficient for energies. unit_k[1]: the charge of a unit mass. */
MD_FN void md_all_coefficients_of_masses(const double *unit_k, double mi, double mj, double *k)
{
  md_all_coefficients(unit_k, mi * unit_k[1], mj * unit_k[1], k);
  k[4] = unit_k[4] * (mi * mj);
}

/* Is a pair an overlap? f: force over distance, in quanta of impulses or of forces. r2: softened. range: see above, in
 * these quanta. */
MD_FN bool md_all_overlaps(double f, const double delta[3], int dim, double r2, double range)
{
  bool out = !(r2 > 0x1p-120);
  for (int d = 0; d < dim; ++d) out = out || !(fabs(f * delta[d]) < range);
  return out;
}

#endif
