/* Exact arithmetic: sums that do not depend on order, threads, ranks or engine.
 *
 *   1  Each term is rounded to a multiple of a power of two: the quantum q of its grid.
 *   2  The rounded terms are summed. A sum of multiples of q is exact in double as long as it stays below 2^53 q, and
 *      exact in integers far beyond. So any order of additions, any atomic and any reduction tree gives the same bits.
 *
 * To round to the grid takes one addition: the last bit of x + 1.5*2^52*q is worth q, for every |x| < 2^51 q.
 *
 *   1.5*2^52*q    11000000 ... 00000000
 *   x                    1 ... 01101001.10111
 *   sum           11000001 ... 01101010          the bits worth less than q are rounded away
 *
 * Force kernels scale everything so that q = 1. Then the bits of x + 1.5*2^52, read as an integer, count quanta, and a
 * kernel may add these integers instead of the doubles.
 *
 * Trade-off: the sums have the same bits everywhere. However, each term loses what is smaller than its quantum, and a
 * sum must stay within its range, so that each quantum must be chosen with care (common/model.h).
 * Cost: two additions for each term (one with integers).
 * Reference: the idea is known as pre-rounding in reproducible summation, Demmel and Nguyen, IEEE Trans. Comput. 64
 * (2015) 2060.
 */
#ifndef MD_COMMON_ARITHMETIC_EXACT_H
#define MD_COMMON_ARITHMETIC_EXACT_H

#include "common/arithmetic/real.h"

#define MD_ROUND 0x1.8p52 /* rounds to multiples of 1 */

/* x rounded to a multiple of the quantum for which `rounder` = MD_ROUND * q; |x| < 2^51 q. */
MD_FN double md_quantise(double x, double rounder) { return (x + rounder) - rounder; }

/* 1/q of a power of two, 2^-1022 <= q <= 2^1022, without a division. */
MD_FN double md_inverse_power(double q)
{
  uint64_t bits;
  memcpy(&bits, &q, sizeof bits);
  bits = (UINT64_C(2046) << 52) - bits;
  memcpy(&q, &bits, sizeof q);
  return q;
}

/* x rounded to a multiple of q, a power of two as of md_inverse_power: for any x, unlike md_quantise. */
MD_FN double md_round_to(double x, double q) { return rint(x * md_inverse_power(q)) * q; }

/* Products at least this large are rounded in two steps, which their last bits no longer show. */
#define MD_ROUND_RANGE 0x1p50

/* a*b rounded to a whole number, |a*b| < 2^53. A product within MD_ROUND_RANGE is rounded once, and kernels rely on
 * that. A larger product is rounded to a double first, and then to a whole number. A change of sign of a or b changes
 * nothing but the sign of the result. */
MD_FN double md_round_product(double a, double b)
{
  const double product = a * b;
  return fabs(product) < MD_ROUND_RANGE ? fma(a, b, MD_ROUND) - MD_ROUND : rint(product);
}

/* The bits of x as an integer. */
MD_FN int64_t md_bits(double x)
{
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* The nearest whole number to x as an integer, ties to even; |x| < 2^62. */
MD_FN int64_t md_count(double x)
{
#ifdef __CUDA_ARCH__
  return __double2ll_rn(x);
#else
  return (int64_t)llrint(x);
#endif
}

__extension__ typedef __int128 md_int128;

/* A wide sum: a sum of integer counts with 127 bits. Its value is the sum of limb[k] * 2^(32 k). The limbs may be
 * summed separately (by MPI_SUM, by atomics), if at most 2^30 normalised sums are combined between two
 * normalisations. Normalised means that 0 <= limb < 2^32 for all limbs but the last, which has the sign. */
enum { MD_WIDE_LIMBS = 3 };
typedef struct md_wide {
  int64_t limb[MD_WIDE_LIMBS];
} md_wide;

MD_FN void md_wide_normalise(md_wide *w)
{
  for (int k = 0; k + 1 < MD_WIDE_LIMBS; ++k) {
    w->limb[k + 1] += w->limb[k] >> 32;
    w->limb[k] &= INT64_C(0xffffffff);
  }
}

/* Adds a count to a normalised sum, which stays normalised. */
MD_FN void md_wide_add(md_wide *w, md_int128 count)
{
  w->limb[0] += (int64_t)(count & 0xffffffff);
  w->limb[1] += (int64_t)(count >> 32 & 0xffffffff);
  w->limb[2] += (int64_t)(count >> 64);
  md_wide_normalise(w);
}

/* Adds another normalised sum. */
MD_FN void md_wide_merge(md_wide *w, const md_wide *other)
{
  for (int k = 0; k < MD_WIDE_LIMBS; ++k) w->limb[k] += other->limb[k];
  md_wide_normalise(w);
}

/* The sum times its quantum q, a power of two, as a double that is rounded once. For the host only. */
static inline double md_wide_value(const md_wide *w, double q)
{
  const md_int128 count = (md_int128)w->limb[2] * ((md_int128)1 << 64) +
                          (md_int128)w->limb[1] * ((md_int128)1 << 32) + w->limb[0];
  return (double)count * q;
}

/* A fine sum: a sum in two parts. The first part, coarse, counts whole coarse quanta. The second part, rest, counts
 * fine quanta, each 2^-MD_FINE_BITS of a coarse one. A fine sum reaches from the largest term, 2^51 coarse quanta,
 * down to 2^-91 of that. The largest term of an output quantity is that of a close encounter; the second part keeps
 * the digits of the small terms beside it. Both parts are integers. A term with the opposite sign changes the sign
 * of both. */
enum { MD_FINE_BITS = 40 };
#define MD_FINE 0x1p40

typedef struct md_fine {
  int64_t coarse, rest;
} md_fine;

/* Adds a term of x coarse quanta, |x| < 2^62. */
MD_FN void md_fine_add(md_fine *sum, double x)
{
  const double whole = rint(x);
  sum->coarse += md_count(whole);
  sum->rest += md_count((x - whole) * MD_FINE);
}

/* The sum in fine quanta, for a wide sum. */
MD_FN md_int128 md_fine_count(md_fine sum)
{
  return (md_int128)sum.coarse * ((md_int128)1 << MD_FINE_BITS) + sum.rest;
}

/* The sum in fine quanta as a double. The steps are written out, because compilers convert 128-bit integers
 * differently. */
MD_FN double md_fine_value(md_fine sum)
{
  const int64_t carry = (sum.rest + (INT64_C(1) << (MD_FINE_BITS - 1))) >> MD_FINE_BITS;
  const int64_t rest = sum.rest - carry * (INT64_C(1) << MD_FINE_BITS);
  return fma((double)(sum.coarse + carry), MD_FINE, (double)rest);
}

#endif
