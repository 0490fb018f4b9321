/* The pair formulas on the device: force_of<STYLE>(r2, k), the force over the distance, and energy_of<STYLE>(r2, k).
 * Both take the squared distance r2 and the coefficients k of the pair of types.
 *
 * This file compiles common/pair/pair_styles.h for the device again, with other elementary functions (reciprocal,
 * square root, logarithm). So there are three forms of each formula:
 *
 *   force_of, energy_of in double   the recipes of common/arithmetic/real.h: the same bits as on every other engine
 *   ranged_force_of in double       the same bits, for RECIPROCAL_LEAST <= r2 < RECIPROCAL_MOST
 *   force_of in single              the approximations of the hardware (2 ulp), which mixed precision allows
 *
 * Why a ranged form: an IEEE division in single precision begins with the approximation of the hardware and one
 * Newton step. It takes another branch for operands that are not normal, or whose reciprocals are not normal. In the
 * range there are no such operands, so ranged_inverse() leaves that branch out. Without a branch the compiler
 * interleaves the arithmetic of several neighbours. ranged_inverse_root() is the same for 1/sqrt. The engine checks on
 * the device that these round correctly for every operand, before it relies on them (gpu/runtime/reciprocal.cu).
 */
#ifndef MD_GPU_STEP_FORMULAS_CUH
#define MD_GPU_STEP_FORMULAS_CUH

#include "common/pair/formulas.h"
#include "common/pair/hybrid/hybrid.h"
#include "gpu/runtime/reciprocal.h"

#define SINGLE __device__ __forceinline__
SINGLE float md_recip_single(float a) { return __fdividef(1.0f, a); }
SINGLE float md_rsqrt_single(float a) { return rsqrtf(a); }
/* The root of the hardware without the test for denormal numbers, which softened distances exclude. */
SINGLE float md_rsqrt3_single(float a)
{
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
  return y * (y * y);
}
SINGLE float md_max_single(float a, float b) { return fmaxf(a, b); }
SINGLE float md_fms_single(float a, float b, float c) { return fmaf(a, b, -c); }
SINGLE float md_select_less_single(float a, float b, float x, float y) { return a < b ? x : y; }
SINGLE float md_ln_single(float a) { return logf(a); }
SINGLE float md_broadcast_single(double a) { return (float)a; }
SINGLE float md_min_single(float a, float b) { return fminf(a, b); }
SINGLE float md_floor_single(float a) { return floorf(a); }
SINGLE float md_fma_single(float a, float b, float c) { return fmaf(a, b, c); }
SINGLE void md_table_load_single(float high, float low, float row, float c[4])
{
  double wide[4];
  md_table_load(high, low, row, wide);
  for (int k = 0; k < 4; ++k) c[k] = (float)wide[k];
}
SINGLE float md_exp_single(float a) { return expf(a); }
SINGLE float md_pow_single(float a, float y) { return powf(a, y); }
#undef SINGLE

__device__ __forceinline__ float ranged_inverse(float a)
{
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
  return fmaf(y, fmaf(-a, y, 1.0f), y);
}

/* 1/sqrtf(a), both correctly rounded: the seed of the hardware, the nearest root, and its inverse. Checked as
 * ranged_inverse is. (A Newton step from the first seed would save the second one, but it is not always right.) */
__device__ __forceinline__ float ranged_inverse_root(float a)
{
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
  const float estimate = a * y;
  return ranged_inverse(fmaf(fmaf(-estimate, estimate, a), 0.5f * y, estimate));
}

/* A normal positive number as a double, by moving its bits; see md_truncate (common/arithmetic/real.h). */
__device__ __forceinline__ double exact_double(float a)
{
  uint32_t word;
  memcpy(&word, &a, sizeof word);
  const uint64_t bits = ((uint64_t)word << 29) + (UINT64_C(896) << 52);
  double b;
  memcpy(&b, &bits, sizeof b);
  return b;
}

#define RANGED __device__ __forceinline__
RANGED double md_recip_ranged(double a)
{
  double y = (double)ranged_inverse((float)a);
  double e = fma(-a, y, 1.0);
  y = fma(y, e, y);
  e = fma(-a, y, 1.0);
  return fma(y, e, y);
}
RANGED double md_rsqrt_ranged(double a) { return md_rsqrt(a); }
RANGED double md_rsqrt3_ranged(double a)
{
  const double y = exact_double(ranged_inverse_root(md_truncate(a))), y2 = y * y;
  const double e = fma(-a, y2, 1.0), cube = y2 * y;
  return fma(cube, e * fma(e, 1.875, 1.5), cube);
}
RANGED double md_max_ranged(double a, double b) { return md_max(a, b); }
RANGED double md_fms_ranged(double a, double b, double c) { return md_fms(a, b, c); }
RANGED double md_select_less_ranged(double a, double b, double x, double y)
{
  return md_select_less(a, b, x, y);
}
RANGED double md_ln_ranged(double a) { return md_ln(a); }
RANGED double md_broadcast_ranged(double a) { return a; }
RANGED double md_min_ranged(double a, double b) { return md_min(a, b); }
/* For |a| < 2^51: a sum that is rounded down has the throughput of any sum, and a conversion a quarter of it. */
RANGED double md_floor_ranged(double a) { return __fma_rd(a, 1.0, 0x1.8p52) - 0x1.8p52; }
RANGED double md_fma_ranged(double a, double b, double c) { return md_fma(a, b, c); }
RANGED void md_table_load_ranged(double high, double low, double row, double c[4])
{
  md_table_load(high, low, row, c);
}
RANGED double md_exp_ranged(double a) { return md_exp(a); }
RANGED double md_pow_ranged(double a, double y) { return md_pow(a, y); }
#undef RANGED

#pragma push_macro("MD_FN")
#undef MD_FN
#define MD_FN static __device__ __forceinline__
#define real float
#define MD_T(name) name##_single
#include "common/arithmetic/whole_power.h"
#include "common/pair/pair_styles.h"
#undef real
#undef MD_T
#define real double
#define MD_T(name) name##_ranged
#include "common/arithmetic/whole_power.h"
#include "common/pair/pair_styles.h"
#undef real
#undef MD_T
#pragma pop_macro("MD_FN")

template <int STYLE> __device__ double force_of(double r2, const double *k);
template <int STYLE> __device__ float force_of(float r2, const float *k);
template <int STYLE> __device__ double ranged_force_of(double r2, const double *k);
template <int STYLE> __device__ double energy_of(double r2, const double *k);

/* Defines the four functions above for a style. Each calls the function of the same arguments that is given. */
#define MD_FORMULAS_OF(STYLE, force, force_single, force_ranged, energy)                                     \
  template <> __device__ __forceinline__ double force_of<STYLE>(double r2, const double *k)                  \
  {                                                                                                          \
    return force(r2, k);                                                                                     \
  }                                                                                                          \
  template <> __device__ __forceinline__ float force_of<STYLE>(float r2, const float *k)                     \
  {                                                                                                          \
    return force_single(r2, k);                                                                              \
  }                                                                                                          \
  template <> __device__ __forceinline__ double ranged_force_of<STYLE>(double r2, const double *k)           \
  {                                                                                                          \
    return force_ranged(r2, k);                                                                              \
  }                                                                                                          \
  template <> __device__ __forceinline__ double energy_of<STYLE>(double r2, const double *k)                 \
  {                                                                                                          \
    return energy(r2, k);                                                                                    \
  }
#define MD_PAIR_ALL(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_LISTED(symbol) MD_PAIR_CUT(symbol)
#define MD_PAIR_CUT(symbol)                                                                                  \
  MD_FORMULAS_OF(MD_PAIR_##symbol, md_##symbol##_force, md_##symbol##_force_single,                          \
                 md_##symbol##_force_ranged, md_##symbol##_energy)
#include "common/pair/pair_styles.h"
#undef MD_PAIR_CUT
#undef MD_PAIR_LISTED
#undef MD_PAIR_ALL

/* Shared kernels have one instance for all styles of MD_PAIR_SHARED, MD_PAIR_SHARED_STYLE, and call the formula that
 * the coefficients name. The call takes some registers and instructions more than a formula in place. In return a style
 * costs no kernel to compile. */
#define MD_PAIR_SHARED(symbol)                                                                               \
  case MD_PAIR_##symbol:                                                                                     \
    return MD_SHARED_FORMULA(symbol)(r2, k);
#define MD_SHARED_FORMULA(symbol) md_##symbol##_force
[[maybe_unused]] static __device__ __noinline__ double shared_force(double r2, const double *k)
{
  switch ((int)k[MD_PAIR_FORMULA]) {
#include "common/pair/pair_styles.h"
  default: return 0.0;
  }
}
#undef MD_SHARED_FORMULA
#define MD_SHARED_FORMULA(symbol) md_##symbol##_force_single
[[maybe_unused]] static __device__ __noinline__ float shared_force(float r2, const float *k)
{
  switch ((int)k[MD_PAIR_FORMULA]) {
#include "common/pair/pair_styles.h"
  default: return 0.0f;
  }
}
#undef MD_SHARED_FORMULA
#define MD_SHARED_FORMULA(symbol) md_##symbol##_energy
[[maybe_unused]] static __device__ __noinline__ double shared_energy(double r2, const double *k)
{
  switch ((int)k[MD_PAIR_FORMULA]) {
#include "common/pair/pair_styles.h"
  default: return 0.0;
  }
}
#undef MD_SHARED_FORMULA
#undef MD_PAIR_SHARED

MD_FORMULAS_OF(MD_PAIR_SHARED_STYLE, shared_force, shared_force, shared_force, shared_energy)

/* Styles with sub-styles have an instance of kernels too, MD_PAIR_HYBRID_STYLE. It is another one, because the sum
 * takes more registers than one formula, and would slow down the styles of the shared instance. */
#define real double
#define MD_HYBRID_FIRST md_hybrid_first
#define MD_HYBRID_SUM hybrid_force
#define MD_TERM(symbol) md_##symbol##_force
#include "gpu/step/hybrid_formula.inc"
#undef MD_TERM
#undef MD_HYBRID_SUM
#define MD_HYBRID_SUM hybrid_energy
#define MD_TERM(symbol) md_##symbol##_energy
#include "gpu/step/hybrid_formula.inc"
#undef MD_TERM
#undef MD_HYBRID_SUM
#undef MD_HYBRID_FIRST
#undef real
#define real float
#define MD_HYBRID_FIRST md_hybrid_first_single
#define MD_HYBRID_SUM hybrid_force
#define MD_TERM(symbol) md_##symbol##_force_single
#include "gpu/step/hybrid_formula.inc"
#undef MD_TERM
#undef MD_HYBRID_SUM
#undef MD_HYBRID_FIRST
#undef real

MD_FORMULAS_OF(MD_PAIR_HYBRID_STYLE, hybrid_force, hybrid_force, hybrid_force, hybrid_energy)
#undef MD_FORMULAS_OF

#endif
