/* Exact arithmetic: sums that do not depend on order, threads, ranks or engine.
 *
 * Everything that is summed is first rounded to a multiple of a power of two, the quantum q of its grid.
 * A sum of multiples of q is exact in double as long as it stays below 2^53 q, and exact in integers far
 * beyond, so any order of additions, any atomic and any reduction tree gives the same bits.
 *
 * Rounding to the grid is one addition: x + 1.5*2^52*q has a last bit worth q, whatever |x| < 2^51 q is.
 * In a force kernel everything is scaled so that q = 1; then the *bits* of x + 1.5*2^52 are an integer that
 * counts quanta, and a kernel may add those integers instead of the doubles.
 *
 * Cost: two additions per summed term (one with the integer form). Reference: the same idea is known as
 * pre-rounding in reproducible summation, Demmel and Nguyen, IEEE Trans. Comput. 64 (2015) 2060.
 */
#ifndef MD_COMMON_EXACT_H
#define MD_COMMON_EXACT_H

#include "common/real.h"

#define MD_ROUND 0x1.8p52 /* rounds to multiples of 1 */

/* x rounded to a multiple of the quantum for which `rounder` = MD_ROUND * q; |x| < 2^51 q. */
MD_FN double md_quantise(double x, double rounder) { return (x + rounder) - rounder; }

/* Products at least this large are rounded in two steps, which their last bits no longer show. */
#define MD_ROUND_RANGE 0x1p50

/* a*b rounded to a whole number: once if it is within MD_ROUND_RANGE (which kernels rely on), and else, up to
 * 2^53, from the rounded product. Odd in either factor. */
MD_FN double md_round_product(double a, double b)
{
  const double product = a * b;
  return fabs(product) < MD_ROUND_RANGE ? fma(a, b, MD_ROUND) - MD_ROUND : rint(product);
}

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

/* A sum of integer counts wider than 64 bits: value = high * 2^32 + low. Both halves may be summed
 * separately (by MPI_SUM, by atomics) as long as at most 2^30 normalised sums are combined between two
 * normalisations. */
typedef struct md_wide {
  int64_t high;
  int64_t low; /* 0 <= low < 2^32 when normalised */
} md_wide;

MD_FN void md_wide_normalise(md_wide *w)
{
  w->high += w->low >> 32;
  w->low &= INT64_C(0xffffffff);
}

MD_FN void md_wide_add(md_wide *w, int64_t count)
{
  w->high += count >> 32;
  w->low += count & INT64_C(0xffffffff);
  md_wide_normalise(w);
}

MD_FN void md_wide_merge(md_wide *w, const md_wide *other)
{
  w->high += other->high;
  w->low += other->low;
  md_wide_normalise(w);
}

#ifndef __CUDA_ARCH__
/* The sum times its quantum as a double, rounded once. q is a power of two. */
static inline double md_wide_value(const md_wide *w, double q)
{
  __extension__ typedef __int128 wide_integer;
  const wide_integer count = ((wide_integer)w->high * 4294967296) + w->low;
  return (double)count * q;
}
#endif

#endif
