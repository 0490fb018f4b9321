/* The exponential and powers, written once for all number types. A template, as real.h describes, without an
 * include guard.
 *
 * All have the same bits on every machine and in every lane, because only +, -, *, fma, the recipe of 1/a and moves of
 * bits are used. There is no branch and no table, so that the compilers make vector code of them.
 *
 *   md_exp(a)     e^a: 31 operations, error below 0.9 ulp
 *   md_pow(a, y)  a^y, a > 0 and normal: 80 operations, error below 1 ulp
 *
 * Exponents are bounded by 700: below and above, the result is that of the nearer bound. So no result is infinite or
 * denormal.
 *
 * Needed of the number type: md_fma, md_min, md_max, md_recip, md_broadcast (the same number in every lane),
 * md_exponent and md_add_exponent (real.h).
 *
 * Reference: Muller et al., Handbook of Floating-Point Arithmetic, 2nd ed. (2018), ch. 4 (sums and products of two
 * words) and 10 (reduction).
 */

/* e^(a + rest), where |rest| is at most about the last digit of a.
 *   1  a = k log 2 + r with |r| <= log 2/2, r and `after`, the last digits of it, in a sum of two doubles. log 2 is
 *      in two parts, of which k times the first is exact.
 *   2  e^r = 1 + (r + (after + r^2 q)), where q is the Taylor series of (e^r - 1 - r)/r^2 to r^11: remainder below
 *      2^-57.
 *   3  k is added to the exponent. */
MD_FN real MD_T(md_exp_sum)(real a, real rest)
{
  const real bounded = MD_T(md_min)(MD_T(md_max)(a, MD_T(md_broadcast)(-700.0)), MD_T(md_broadcast)(700.0));
  const real k = (bounded * 0x1.71547652b82fep0 + 0x1.8p52) - 0x1.8p52;
  const real high = MD_T(md_fma)(k, MD_T(md_broadcast)(-0x1.62e42fefap-1), bounded);
  const real low = MD_T(md_broadcast)(-0x1.cf79abc9e3b3ap-40);
  const real first = MD_T(md_fma)(k, low, high), second = MD_T(md_fma)(k, low, high - first) + rest;
  const real r = first + second, after = (first - r) + second;
  real q = MD_T(md_broadcast)(1.0 / 6227020800.0);
  q = MD_T(md_fma)(q, r, MD_T(md_broadcast)(1.0 / 479001600.0));
  q = MD_T(md_fma)(q, r, MD_T(md_broadcast)(1.0 / 39916800.0));
  q = MD_T(md_fma)(q, r, MD_T(md_broadcast)(1.0 / 3628800.0));
  q = MD_T(md_fma)(q, r, MD_T(md_broadcast)(1.0 / 362880.0));
  q = MD_T(md_fma)(q, r, MD_T(md_broadcast)(1.0 / 40320.0));
  q = MD_T(md_fma)(q, r, MD_T(md_broadcast)(1.0 / 5040.0));
  q = MD_T(md_fma)(q, r, MD_T(md_broadcast)(1.0 / 720.0));
  q = MD_T(md_fma)(q, r, MD_T(md_broadcast)(1.0 / 120.0));
  q = MD_T(md_fma)(q, r, MD_T(md_broadcast)(1.0 / 24.0));
  q = MD_T(md_fma)(q, r, MD_T(md_broadcast)(1.0 / 6.0));
  q = MD_T(md_fma)(q, r, MD_T(md_broadcast)(0.5));
  return MD_T(md_add_exponent)((r + MD_T(md_fma)(r * r, q, after)) + 1.0, k);
}

MD_FN real MD_T(md_exp)(real a) { return MD_T(md_exp_sum)(a, MD_T(md_broadcast)(0.0)); }

/* (atanh(s)/s - 1)/s^2 - 1/3 as a multiple of z = s^2: the Taylor series 1/5 + z/7 + ... + z^10/25. For |s| < 0.1716
 * the remainder, as a part of the logarithm, is below 2^-70. */
MD_FN real MD_T(md_atanh_series)(real z)
{
  real p = MD_T(md_broadcast)(1.0 / 25.0);
  p = MD_T(md_fma)(p, z, MD_T(md_broadcast)(1.0 / 23.0));
  p = MD_T(md_fma)(p, z, MD_T(md_broadcast)(1.0 / 21.0));
  p = MD_T(md_fma)(p, z, MD_T(md_broadcast)(1.0 / 19.0));
  p = MD_T(md_fma)(p, z, MD_T(md_broadcast)(1.0 / 17.0));
  p = MD_T(md_fma)(p, z, MD_T(md_broadcast)(1.0 / 15.0));
  p = MD_T(md_fma)(p, z, MD_T(md_broadcast)(1.0 / 13.0));
  p = MD_T(md_fma)(p, z, MD_T(md_broadcast)(1.0 / 11.0));
  p = MD_T(md_fma)(p, z, MD_T(md_broadcast)(1.0 / 9.0));
  p = MD_T(md_fma)(p, z, MD_T(md_broadcast)(1.0 / 7.0));
  return MD_T(md_fma)(p, z, MD_T(md_broadcast)(1.0 / 5.0));
}

/* a^y = e^(y log a), with log a as a sum of two doubles whose error is below 2^-64 of it.
 *   1  a = 2^k m with m in [sqrt(1/2), sqrt(2)).
 *   2  log m = 2 atanh(s), s = (m - 1)/(m + 1). X and X_low together are s, s^2 and so on.
 *   3  log a = k log 2 + log m, and y log a as a sum of two doubles. */
MD_FN real MD_T(md_pow)(real a, real y)
{
  const real k = MD_T(md_exponent)(a), m = MD_T(md_add_exponent)(a, -k);
  const real t = m - 1.0, u = m + 1.0, u_low = m - (u - 1.0), inverse = MD_T(md_recip)(u);
  const real s = t * inverse, s_low = (MD_T(md_fma)(-s, u, t) - s * u_low) * inverse;
  const real z = s * s, z_low = MD_T(md_fma)(s, s, -z) + 2.0 * s * s_low;
  const real p = MD_T(md_atanh_series)(z), q = z * p;
  const real q_low = MD_T(md_fma)(z, p, -q) + z_low * p;
  const real w = q + 0x1.5555555555555p-2,
             w_low = (0x1.5555555555555p-2 - w + q) + (q_low + 0x1.5555555555555p-56);
  const real e = z * w, e_low = MD_T(md_fma)(z, w, -e) + (z * w_low + z_low * w);
  const real twice = 2.0 * s, product = twice * e, log_m = twice + product;
  const real log_m_low = ((twice - log_m) + product) +
                         ((MD_T(md_fma)(twice, e, -product) + twice * e_low) + 2.0 * s_low * (e + 1.0));
  const real log_power = k * 0x1.62e42fefap-1, first = log_power + log_m;
  const real second =
      ((log_power - first) + log_m) + MD_T(md_fma)(k, MD_T(md_broadcast)(0x1.cf79abc9e3b3ap-40), log_m_low);
  const real high = first + second, low = (first - high) + second, exponent = y * high;
  return MD_T(md_exp_sum)(exponent, MD_T(md_fma)(y, low, MD_T(md_fma)(y, high, -exponent)));
}

#include "common/arithmetic/whole_power.h"
