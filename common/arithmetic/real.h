/* Arithmetic with the same bits from every compiler, and how a pair formula is written once for all number types.
 *
 * A formula header (common/pair/styles/pair_*.h, elementary.h) is a template over the number type `real`. It is
 * included once for each number type, with
 *   real        the type: double, float (mixed precision), or a vector of doubles (openmp/force/simd.h)
 *   MD_T(name)  the name of a function for this type, for instance name##_v
 * It uses only + - * / and functions such as MD_T(md_recip), of which each number type has an instance. The functions
 * below are those for double. The C compiler runs with -ffp-contract=off and nvcc with -fmad=false, so that there is an
 * fma exactly where the source has one.
 */
#ifndef MD_COMMON_ARITHMETIC_REAL_H
#define MD_COMMON_ARITHMETIC_REAL_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define MD_FN static __host__ __device__ __forceinline__
#else
#define MD_FN static inline __attribute__((always_inline, unused))
#endif

/* 1/a to about one rounding, with the same bits everywhere: an approximation in IEEE single precision and two Newton
 * steps. |a| must be within the range of single precision (1e-38 .. 3e38). */
MD_FN double md_recip(double a)
{
  double y = (double)(1.0f / (float)a);
  double e = fma(-a, y, 1.0);
  y = fma(y, e, y);
  e = fma(-a, y, 1.0);
  return fma(y, e, y);
}

/* 1/sqrt(a), likewise: 1/sqrtf in IEEE single precision and two Newton steps. */
MD_FN double md_rsqrt(double a)
{
  const double half = 0.5 * a;
  double y = (double)(1.0f / sqrtf((float)a));
  double e = fma(-half * y, y, 0.5);
  y = fma(y, e, y);
  e = fma(-half * y, y, 0.5);
  return fma(y, e, y);
}

/* a in single precision, rounded towards zero, for 2^-126 <= a < 2^128: the bits of a double moved into their places.
 * GPUs convert from double with another unit, at an eighth of the speed. */
MD_FN float md_truncate(double a)
{
  uint64_t bits;
  memcpy(&bits, &a, sizeof bits);
  const uint32_t word = (uint32_t)(bits >> 29) + 0x40000000u;
  float single;
  memcpy(&single, &word, sizeof single);
  return single;
}

/* a^(-3/2), likewise, for 2^-120 <= a <= 2^126: y = 1/sqrtf(a) leaves an error e = 1 - a y^2 of about 2^-22, and
 *   a^(-3/2) = y^3 (1 - e)^(-3/2) = y^3 (1 + 3/2 e + 15/8 e^2 + ...).
 * The next term is below 2^-63. y^2 is exact, because y has 24 bits. */
MD_FN double md_rsqrt3(double a)
{
  const double y = (double)(1.0f / sqrtf(md_truncate(a))), y2 = y * y;
  const double e = fma(-a, y2, 1.0), cube = y2 * y;
  return fma(cube, e * fma(e, 1.875, 1.5), cube);
}

/* a b - c, rounded once. */
MD_FN double md_fms(double a, double b, double c) { return fma(a, b, -c); }

MD_FN double md_max(double a, double b) { return a > b ? a : b; }
MD_FN double md_sqrt(double a) { return sqrt(a); }
MD_FN double md_floor(double a) { return floor(a); }
MD_FN double md_min(double a, double b) { return a < b ? a : b; }

/* a < b ? x : y */
MD_FN double md_select_less(double a, double b, double x, double y) { return a < b ? x : y; }

/* The natural logarithm of a normal number a > 0, with an error below 2 ulp and the same bits on every machine, because
 * only +, -, *, / and fma are used.
 *   1  a = 2^k m with m in [sqrt(1/2), sqrt(2)).
 *   2  log m = 2 atanh(s), s = (m - 1)/(m + 1), by its Taylor series in s^2: |s| < 0.1716, terms to s^23, remainder
 *      below 2^-60.
 *   3  log a = k log 2 + log m. */
MD_FN double md_ln(double a)
{
  int64_t bits;
  memcpy(&bits, &a, sizeof bits);
  const int64_t sqrt_half = INT64_C(0x3fe6a09e667f3bcd);
  const int64_t k = (bits - sqrt_half) >> 52;
  bits -= k * (INT64_C(1) << 52);
  double m;
  memcpy(&m, &bits, sizeof m);
  const double t = m - 1.0;
  const double s = t / (m + 1.0);
  const double z = s * s;
  double p = 1.0 / 23.0;
  p = fma(p, z, 1.0 / 21.0);
  p = fma(p, z, 1.0 / 19.0);
  p = fma(p, z, 1.0 / 17.0);
  p = fma(p, z, 1.0 / 15.0);
  p = fma(p, z, 1.0 / 13.0);
  p = fma(p, z, 1.0 / 11.0);
  p = fma(p, z, 1.0 / 9.0);
  p = fma(p, z, 1.0 / 7.0);
  p = fma(p, z, 1.0 / 5.0);
  p = fma(p, z, 1.0 / 3.0);
  const double log_m = fma(2.0 * s * z, p, 2.0 * s);
  /* ln 2 in two parts: k * high is exact. */
  const double ln2_high = 0x1.62e42fefap-1;
  const double ln2_low = 0x1.cf79abc9e3b3ap-40;
  const double kd = (double)k;
  return fma(kd, ln2_high, fma(kd, ln2_low, log_m));
}

/* The number k of a = 2^k m with m in [sqrt(1/2), sqrt(2)), for a normal number a > 0. The bits of a, less those of
 * sqrt(1/2), hold k in their upper twelve; 2^52 + k + 1024 is the double whose lower bits are k + 1024. */
MD_FN double md_exponent(double a)
{
  uint64_t bits;
  memcpy(&bits, &a, sizeof bits);
  bits = ((bits + (UINT64_C(0x4000000000000000) - UINT64_C(0x3fe6a09e667f3bcd))) >> 52) |
         UINT64_C(0x4330000000000000);
  double k;
  memcpy(&k, &bits, sizeof k);
  return k - (0x1p52 + 1024.0);
}

/* a 2^k for whole numbers k, if a and the result are normal: k is added to the exponent. */
MD_FN double md_add_exponent(double a, double k)
{
  const double whole = k + 0x1.8p52;
  uint64_t bits, more;
  memcpy(&bits, &a, sizeof bits);
  memcpy(&more, &whole, sizeof more);
  bits += more << 52;
  memcpy(&a, &bits, sizeof a);
  return a;
}

MD_FN double md_fma(double a, double b, double c) { return fma(a, b, c); }
MD_FN double md_broadcast(double a) { return a; }

#define real double
#define MD_T(name) name
#include "common/arithmetic/elementary.h"
#undef real
#undef MD_T

/* sin(2 pi t), with an error below 2^-52 and the same bits on every machine. t is moved by whole turns into [-1/2,
 * 1/2], and mirrored into [-1/4, 1/4]. There the Taylor series goes to the power 21, with a remainder below 2^-60. */
MD_FN double md_sin_turns(double t)
{
  t -= rint(t);
  if (t > 0.25) t = 0.5 - t;
  if (t < -0.25) t = -0.5 - t;
  const double x = t * 0x1.921fb54442d18p2, z = -x * x;
  double p = 1.0;
  for (int n = 20; n > 0; n -= 2) p = fma(p * (1.0 / (double)(n * (n + 1))), z, 1.0);
  return x * p;
}

#endif
