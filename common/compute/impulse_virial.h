/* The virial of pairs that fixes take which act after every step, such as npt: that of impulses. C and CUDA.
 *
 * An impulse of a pair is f delta in quanta, with the difference delta of their places (common/step/step.h). Its virial
 * is made of the same f:
 *
 *      W = sum over pairs of round(odd(f) r^2),     W_dd = sum over pairs of round(odd(f delta_d) delta_d)
 *
 * round() rounds to whole quanta of md_model.virial_quantum, and odd() sets the last bit of a number. So a product that
 * is below 2^51 quanta is never halfway between two of them, and fma(a, b, sum) rounds it alike whatever the sum is.
 * Engines may thus add products to a double that holds a sum, or round each by itself: the bits are the same.
 *
 * Trade-off: a term is good to about 2^-30 of itself, rounded to nearest, and not to all its digits as the virial of
 * output is (common/model.h). A pair takes 2 operations more than its impulse, or 9 for three axes, instead of a force
 * of its own and two roundings for each term.
 * Cost: none but these.
 */
#ifndef MD_COMMON_COMPUTE_IMPULSE_VIRIAL_H
#define MD_COMMON_COMPUTE_IMPULSE_VIRIAL_H

#include "common/arithmetic/exact.h"

/* a with its last bit set. */
MD_FN double md_odd(double a)
{
  int64_t bits = md_bits(a) | 1;
  memcpy(&a, &bits, sizeof bits);
  return a;
}

/* The product of a and odd(f), |a f| < 2^51 q, in quanta q; rounder: MD_ROUND q. */
MD_FN int64_t md_odd_count(double f, double a, double rounder)
{
  return md_bits(fma(md_odd(f), a, rounder)) - md_bits(rounder);
}

#endif
