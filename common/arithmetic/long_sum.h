/* Long sums: exact sums of doubles of any size. For the host.
 *
 * A sum is a row of 67 limbs, which cover all exponents of a double. Limb k counts 2^(32 k - 1074). A term is cut into
 * three parts of at most 32 bits, and these are added to neighbouring limbs. Nothing is rounded before the value is
 * asked for, so that the order of terms cannot matter. Unlike a fine sum (exact.h), a long sum has no quantum and no
 * range to choose.
 *
 * Trade-off: 544 bytes a sum. So it is for the few sums of output, not for one of each particle.
 * Cost: three additions of integers for each term, and a pass over the limbs for each 2^30 terms.
 * Reference: the long accumulator of U. Kulisch, Computer Arithmetic and Validity (2013), chapter 8.
 */
#ifndef MD_COMMON_ARITHMETIC_LONG_SUM_H
#define MD_COMMON_ARITHMETIC_LONG_SUM_H

#include "common/arithmetic/exact.h"

#include <stdbool.h>

/* The limbs of a long sum may be summed separately, over up to 2^30 normalised sums. Normalised means that
 * 0 <= limb < 2^32 for all limbs but the last, which has the sign. */
enum { MD_LONG_LIMBS = 67 };
typedef struct md_long_sum {
  int64_t limb[MD_LONG_LIMBS];
  int64_t terms; /* since the sum was normalised */
} md_long_sum;

static inline void md_long_normalise(md_long_sum *sum)
{
  for (int k = 0; k + 1 < MD_LONG_LIMBS; ++k) {
    sum->limb[k + 1] += sum->limb[k] >> 32;
    sum->limb[k] &= INT64_C(0xffffffff);
  }
  sum->terms = 0;
}

/* Adds a finite number. */
static inline void md_long_add(md_long_sum *sum, double x)
{
  const int64_t bits = md_bits(x), mask = INT64_C(0xffffffff);
  const int exponent = (int)(bits >> 52 & 0x7ff), place = exponent > 0 ? exponent - 1 : 0;
  const int64_t fraction = bits & ((INT64_C(1) << 52) - 1);
  const int64_t significand = exponent > 0 ? fraction | INT64_C(1) << 52 : fraction;
  const md_int128 term = (md_int128)(bits < 0 ? -significand : significand) * ((md_int128)1 << place % 32);
  int64_t *limb = sum->limb + place / 32;
  limb[0] += (int64_t)(term & mask);
  limb[1] += (int64_t)(term >> 32 & mask);
  limb[2] += (int64_t)(term >> 64);
  if (++sum->terms == INT64_C(1) << 30) md_long_normalise(sum);
}

/* The sum of a normalised sum as a double that is rounded once. */
static inline double md_long_value(const md_long_sum *sum)
{
  md_long_sum size = *sum;
  const bool negative = sum->limb[MD_LONG_LIMBS - 1] < 0;
  for (int k = 0; k < MD_LONG_LIMBS && negative; ++k) size.limb[k] = -size.limb[k];
  md_long_normalise(&size);
  int top = MD_LONG_LIMBS - 1;
  while (top > 2 && size.limb[top] == 0) --top;
  /* The three first limbs that are not 0 have at least 65 bits. Of all others it matters only whether they are 0. */
  md_int128 first = 0;
  for (int k = top; k > top - 3; --k) first = first * ((md_int128)1 << 32) + size.limb[k];
  bool rest = false;
  for (int k = top - 3; k >= 0; --k) rest = rest || size.limb[k] != 0;
  int shift = 0;
  for (; first >> shift >= (md_int128)1 << 62; ++shift) rest = rest || (first >> shift & 1);
  const double value = ldexp((double)((int64_t)(first >> shift) | rest), 32 * (top - 2) - 1074 + shift);
  return negative ? -value : value;
}

#endif
