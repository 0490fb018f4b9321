/* Three-body potentials, with a force that depends on angles: pair styles sw and vashishta. C and CUDA.
 *
 *   E = sum over pairs of phi(r) + sum over centres c of E_c
 *   E_c = sum over unordered pairs of legs j, k of  g_j g_k (cos theta_jk - C)^2
 *   g = weight exp(-decay/(cut - r))
 *
 * A leg is a particle within `cut` of the centre, theta_jk is the angle between the legs j and k, and C the cosine
 * without a force, one for each element of a centre. The strength of two legs is the product of their weights.
 *
 * Then E_c needs no loop over pairs of legs. n being the unit vector from the centre to a leg, it is a function of ten
 * sums over the legs, M = sum of g n n^T, V = sum of g n and Q = sum of g^2, and of the trace S of M:
 *
 *   E_c = (M:M - 2 C V.V + C^2 S^2 - (1 - C)^2 Q)/2
 *
 * and the force of this centre on a leg is
 *
 *   F = -[ g' (A - (1 - C)^2 g) n + (2 g/r) (p - (n.p) n) ]     p = M n - C V,  A = n.p - C n.V + C^2 S
 *
 * Forces are found in two passes, as those of embedded atoms (common/pair/tables/eam.h):
 *   1  the ten sums of each particle. Each term is rounded to a quantum, and the sums are integers, so that they do not
 *      depend on order, threads, ranks or engine. The particle keeps M, C V and C^2 S;
 *   2  the force of each pair: that of phi, and that of each of the two particles as a centre on the other one as its
 *      leg. It is a vector that is not along r. Exchanging the particles changes its sign and no other bit: both
 *      parts are formed, then subtracted. Its impulse is rounded once, as that of every pair style.
 * On several ranks the ten numbers of ghosts come from their owners (halo_values of common/ranks/exchange.h).
 *
 * Trade-off: O(neighbours), where a loop over triples is O(neighbours^2), and no list of triples. But strengths must be
 * products, and 80 bytes a particle are kept and exchanged between the passes.
 * Cost: of pass 1 a root, an exponential and ten integers a leg; of pass 2 about 100 operations and two exponentials.
 * References: Stillinger and Weber, Phys. Rev. B 31 (1985) 5262; Vashishta, Kalia, Rino and Ebbsjo, Phys. Rev. B 41
 * (1990) 12197; the sums are the moments l = 0, 1 and 2 of Bartok et al., Phys. Rev. B 87 (2013) 184115.
 */
#ifndef MD_COMMON_PAIR_THREE_BODY_THREE_BODY_H
#define MD_COMMON_PAIR_THREE_BODY_THREE_BODY_H

#include "common/arithmetic/exact.h"
#include "common/base/error.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* MD_THREE_SUMS: the numbers of a particle. In pass 1 M (xx, yy, zz, yz, xz, xy), V and Q; between the passes M, C V
 * and C^2 S. MD_THREE_VALUES: the most numbers of an entry of a file. MD_THREE_K: those of phi, as of md_pair_table. */
enum { MD_THREE_SUMS = 10, MD_THREE_ELEMENTS = 32, MD_THREE_VALUES = 14, MD_THREE_K = 16 };

/* The styles. */
typedef enum md_three_form { MD_THREE_SW, MD_THREE_VASHISHTA } md_three_form;

/* The values of a file: value[(a n + b) n + c] belong to a centre a with the legs b and c, n being nelement. Those of
 * sw are epsilon sigma a lambda gamma cos0 A B p q tol, and those of vashishta H eta Zi Zj lambda1 D lambda4 W rc B
 * gamma r0 C cos0. charges: the energy of two elementary charges times their distance. */
typedef struct md_three_values {
  md_three_form form;
  int nelement;
  char name[MD_THREE_ELEMENTS][16];
  double (*value)[MD_THREE_VALUES];
  double charges;
} md_three_values;

/* An element b as a leg of a centre of element a; cut2 is 0 if it is none. */
typedef struct md_leg {
  double cut2, cut, decay, weight;
} md_leg;

/* A potential by element, 0-based. Kernels get a copy whose arrays are in the memory of their device. */
typedef struct md_three_body {
  int nelement;
  double overlap2;                  /* squared distance: nearer than that, particles overlap */
  double quanta, quanta_square;     /* of M and V, and of Q, in a unit of it: powers of two */
  double checksum;                  /* a number that two potentials rarely share, below 2^53 */
  double cosine[MD_THREE_ELEMENTS]; /* C of a centre */
  md_leg *leg;                      /* [a nelement + b] */
  double (*phi)
      [MD_THREE_K]; /* [a nelement + b]: coefficients of the style's formulas, for forces in units of force */
  int *element;     /* by type, 0-based; -1: not given yet */
} md_three_body;

/* The number of values of an entry, and the name of each. */
int md_three_value_count(md_three_form form);
const char *md_three_value_name(md_three_form form, int value);

/* Makes a potential of values, for ntypes types that have no element yet. The caller frees *made with
 * md_three_body_free. MD_USAGE: a value is out of its domain, or the strengths of two legs are no product; the message
 * names the elements. MD_RUNTIME: out of memory. */
md_status md_three_body_new(md_three_body **made, const md_three_values *values, int ntypes) MD_CHECKED;
void md_three_body_free(md_three_body *three);

/* The distance at which elements a and b stop to interact, in both orders; 0: they do not. */
double md_three_reach(const md_three_body *three, int a, int b);

/* The largest energy of a centre with 2^12 legs. */
double md_three_largest_energy(const md_three_body *three);

/* ---- formulas ---- */

/* g of a leg at distance r < cut, and its slope. The smallest distance to the cutoff keeps the slope finite. */
MD_FN double md_leg_value(const md_leg *leg, double r, double *slope)
{
  const double inverse = md_recip(md_max(leg->cut - r, leg->cut * 0x1p-30)), x = leg->decay * inverse;
  const double g = leg->weight * md_exp(-x);
  *slope = -(g * (x * inverse));
  return g;
}

/* Pass 1: adds the terms of a leg at squared distance r2 to the sums of its centre. delta: from the
 * leg to the centre, three components. Overlaps count as nothing here; pass 2 finds them. */
MD_FN void md_three_add(const md_three_body *three, const md_leg *leg, const double delta[3], double r2,
                        int64_t sum[MD_THREE_SUMS])
{
  if (!(r2 < leg->cut2) || r2 < three->overlap2) return;
  const double inverse = md_rsqrt(r2);
  double slope;
  const double g = md_leg_value(leg, r2 * inverse, &slope), scaled = g * three->quanta;
  const double x = delta[0] * inverse, y = delta[1] * inverse, z = delta[2] * inverse;
  const double gx = scaled * x, gy = scaled * y, gz = scaled * z;
  sum[0] += md_count(gx * x);
  sum[1] += md_count(gy * y);
  sum[2] += md_count(gz * z);
  sum[3] += md_count(gy * z);
  sum[4] += md_count(gx * z);
  sum[5] += md_count(gx * y);
  sum[6] -= md_count(gx);
  sum[7] -= md_count(gy);
  sum[8] -= md_count(gz);
  sum[9] += md_count((g * g) * three->quanta_square);
}

/* The energy of a centre with these sums, and the numbers that it keeps for pass 2. */
MD_FN double md_three_centre(const md_three_body *three, int element, const int64_t sum[MD_THREE_SUMS],
                             double kept[MD_THREE_SUMS])
{
  const double quantum = md_inverse_power(three->quanta), cosine = three->cosine[element],
               rest = 1.0 - cosine;
  double m[9];
  for (int k = 0; k < 9; ++k) m[k] = (double)sum[k] * quantum;
  const double q = (double)sum[9] * md_inverse_power(three->quanta_square);
  const double trace = (m[0] + m[1]) + m[2], trace_part = (cosine * cosine) * trace;
  const double diagonal = fma(m[0], m[0], fma(m[1], m[1], m[2] * m[2]));
  const double corners = fma(m[3], m[3], fma(m[4], m[4], m[5] * m[5]));
  const double v2 = fma(m[6], m[6], fma(m[7], m[7], m[8] * m[8]));
  for (int k = 0; k < 6; ++k) kept[k] = m[k];
  for (int k = 6; k < 9; ++k) kept[k] = cosine * m[k];
  kept[9] = trace_part;
  return 0.5 *
         ((fma(2.0, corners, diagonal) - (2.0 * cosine) * v2) + (trace_part * trace - (rest * rest) * q));
}

/* The force of a centre on a leg at n r, n being a unit vector and `inverse` 1/r. g, slope: of the leg. kept: of the
 * centre. */
MD_FN void md_three_leg_force(double g, double slope, double cosine, const double kept[MD_THREE_SUMS],
                              const double n[3], double inverse, double force[3])
{
  const double rest = 1.0 - cosine;
  double p[3];
  p[0] = fma(kept[0], n[0], fma(kept[5], n[1], fma(kept[4], n[2], -kept[6])));
  p[1] = fma(kept[5], n[0], fma(kept[1], n[1], fma(kept[3], n[2], -kept[7])));
  p[2] = fma(kept[4], n[0], fma(kept[3], n[1], fma(kept[2], n[2], -kept[8])));
  const double along = fma(n[0], p[0], fma(n[1], p[1], n[2] * p[2]));
  const double across = fma(n[0], kept[6], fma(n[1], kept[7], n[2] * kept[8]));
  const double a = (along - across) + kept[9];
  const double turn = (2.0 * g) * inverse, radial = slope * (a - (rest * rest) * g);
  const double both = turn * along - radial;
  for (int d = 0; d < 3; ++d) force[d] = fma(both, n[d], -(turn * p[d]));
}

#ifdef __cplusplus
}
#endif
#endif
