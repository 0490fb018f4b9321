/* A vector of doubles, for the instruction set this file is compiled for: 8 with AVX-512, 4 with AVX2, else 1.
 *
 * This header has only what the kernels need. The compiler itself offers + - * on vector types, and everything else
 * has a name here. Every operation follows IEEE 754 and gives each lane the bits that the scalar code gives.
 * Exception: the tests in single precision (single_*), which decide only candidates.
 *
 * simd_d: doubles; simd_i: as many int64; simd_x: as many int32; simd_m: a mask; simd_f: singles, and simd_xf: as
 * many int32.
 */
#ifndef MD_OPENMP_FORCE_SIMD_H
#define MD_OPENMP_FORCE_SIMD_H

#include "common/arithmetic/exact.h"
#include "common/compute/impulse_virial.h"

#if defined __AVX512F__ && defined __AVX512DQ__ && defined __AVX512VL__
#include <immintrin.h>
#define MD_SIMD_WIDTH 8
typedef __m512d simd_d;
typedef __m512i simd_i; /* 8 x int64 */
typedef __m256i simd_x; /* 8 x int32 */
typedef __mmask8 simd_m;

MD_FN simd_d simd_set(double a) { return _mm512_set1_pd(a); }
MD_FN simd_d simd_load(const double *p) { return _mm512_loadu_pd(p); }
MD_FN simd_x simd_load_x(const int32_t *p) { return _mm256_loadu_si256((const void *)p); }
MD_FN simd_x simd_set_x(int32_t a) { return _mm256_set1_epi32(a); }
/* A plain gather waits for the register that it overwrites, which costs half the speed. A masked gather into a
 * register of zeros does not wait. The empty asm hides from the compiler that the mask is full: else it would drop
 * the zeros. */
MD_FN simd_d simd_gather(const double *p, simd_x i)
{
  __mmask8 all = 0xff;
  __asm__("" : "+Yk"(all));
  return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), all, i, p, 8);
}
MD_FN simd_x simd_gather_x(const int32_t *p, simd_x i) { return _mm256_i32gather_epi32(p, i, 4); }
MD_FN simd_x simd_add_x(simd_x a, simd_x b) { return _mm256_add_epi32(a, b); }
MD_FN simd_x simd_scale_x(simd_x a, int32_t b) { return _mm256_mullo_epi32(a, _mm256_set1_epi32(b)); }
MD_FN simd_d simd_fma(simd_d a, simd_d b, simd_d c) { return _mm512_fmadd_pd(a, b, c); }
MD_FN simd_d md_fms_v(simd_d a, simd_d b, simd_d c) { return _mm512_fmsub_pd(a, b, c); }
MD_FN simd_d simd_fnma(simd_d a, simd_d b, simd_d c) { return _mm512_fnmadd_pd(a, b, c); }
MD_FN simd_d md_max_v(simd_d a, simd_d b) { return _mm512_max_pd(a, b); }
MD_FN simd_d simd_min(simd_d a, simd_d b) { return _mm512_min_pd(a, b); }
MD_FN simd_d md_sqrt_v(simd_d a) { return _mm512_sqrt_pd(a); }
MD_FN simd_d md_floor_v(simd_d a)
{
  return _mm512_roundscale_pd(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
MD_FN simd_m simd_less(simd_d a, simd_d b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
MD_FN simd_d simd_keep(simd_m m, simd_d a) { return _mm512_maskz_mov_pd(m, a); }
/* md_odd() of a where m is set, else 0. */
MD_FN simd_d simd_keep_odd(simd_m m, simd_d a)
{
  return _mm512_castsi512_pd(_mm512_maskz_or_epi64(m, _mm512_castpd_si512(a), _mm512_set1_epi64(1)));
}
MD_FN simd_d simd_choose(simd_m m, simd_d a, simd_d b) { return _mm512_mask_blend_pd(m, b, a); }
MD_FN simd_i simd_zero_i(void) { return _mm512_setzero_si512(); }
MD_FN simd_i simd_add_bits(simd_i a, simd_d b) { return _mm512_add_epi64(a, _mm512_castpd_si512(b)); }
MD_FN void simd_store_i(int64_t *p, simd_i a) { _mm512_storeu_si512(p, a); }
/* a - b, as doubles. */
MD_FN simd_d simd_difference(simd_i a, uint64_t b)
{
  return _mm512_cvtepi64_pd(_mm512_sub_epi64(a, _mm512_set1_epi64((int64_t)b)));
}
MD_FN void simd_store(double *p, simd_d a) { _mm512_storeu_pd(p, a); }
MD_FN simd_d simd_reciprocal_single(simd_d a)
{
  return _mm512_cvtps_pd(_mm256_div_ps(_mm256_set1_ps(1.0f), _mm512_cvtpd_ps(a)));
}
MD_FN simd_d simd_rsqrt_single(simd_d a)
{
  return _mm512_cvtps_pd(_mm256_div_ps(_mm256_set1_ps(1.0f), _mm256_sqrt_ps(_mm512_cvtpd_ps(a))));
}
/* 1/sqrtf of md_truncate (common/arithmetic/real.h). */
MD_FN simd_d simd_rsqrt_truncated(simd_d a)
{
  const __m256i words = _mm512_cvtepi64_epi32(_mm512_srli_epi64(_mm512_castpd_si512(a), 29));
  const __m256 single = _mm256_castsi256_ps(_mm256_add_epi32(words, _mm256_set1_epi32(0x40000000)));
  return _mm512_cvtps_pd(_mm256_div_ps(_mm256_set1_ps(1.0f), _mm256_sqrt_ps(single)));
}
MD_FN double simd_least(simd_d a) { return _mm512_reduce_min_pd(a); }
MD_FN simd_d md_exponent_v(simd_d a)
{
  const __m512i shift = _mm512_set1_epi64(INT64_C(0x4000000000000000) - INT64_C(0x3fe6a09e667f3bcd));
  const __m512i moved = _mm512_srli_epi64(_mm512_add_epi64(_mm512_castpd_si512(a), shift), 52);
  const __m512i bits = _mm512_or_si512(moved, _mm512_set1_epi64(INT64_C(0x4330000000000000)));
  return _mm512_castsi512_pd(bits) - (0x1p52 + 1024.0);
}
MD_FN simd_d md_add_exponent_v(simd_d a, simd_d k)
{
  const __m512i more = _mm512_slli_epi64(_mm512_castpd_si512(k + 0x1.8p52), 52);
  return _mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(a), more));
}

/* Transposes eight rows of four words, one for each lane, to one vector for each of the words. */
MD_FN simd_d simd_two_rows(const double *a, const double *b)
{
  return _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(a)), _mm256_loadu_pd(b), 1);
}
MD_FN void simd_load_rows(const double *const *at, simd_d word[4])
{
  const simd_d a = simd_two_rows(at[0], at[2]), b = simd_two_rows(at[1], at[3]);
  const simd_d c = simd_two_rows(at[4], at[6]), d = simd_two_rows(at[5], at[7]);
  const simd_d even0 = _mm512_unpacklo_pd(a, b), odd0 = _mm512_unpackhi_pd(a, b);
  const simd_d even1 = _mm512_unpacklo_pd(c, d), odd1 = _mm512_unpackhi_pd(c, d);
  word[0] = _mm512_shuffle_f64x2(even0, even1, 0x88);
  word[1] = _mm512_shuffle_f64x2(odd0, odd1, 0x88);
  word[2] = _mm512_shuffle_f64x2(even0, even1, 0xdd);
  word[3] = _mm512_shuffle_f64x2(odd0, odd1, 0xdd);
}
/* Subtracts lane l of the vectors from the record of index[l]. */
MD_FN void simd_subtract_record(int64_t *sum, int32_t index, __m256i a)
{
  __m256i *to = (void *)(sum + 4 * (int64_t)index);
  _mm256_store_si256(to, _mm256_sub_epi64(_mm256_load_si256(to), a));
}
MD_FN void simd_subtract_records(int64_t *sum, const int32_t *index, const simd_i word[4])
{
  const simd_i xy0 = _mm512_unpacklo_epi64(word[0], word[1]), xy1 = _mm512_unpackhi_epi64(word[0], word[1]);
  const simd_i zn0 = _mm512_unpacklo_epi64(word[2], word[3]), zn1 = _mm512_unpackhi_epi64(word[2], word[3]);
  const simd_i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
               high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  const simd_i a = _mm512_permutex2var_epi64(xy0, low, zn0), b = _mm512_permutex2var_epi64(xy1, low, zn1);
  const simd_i c = _mm512_permutex2var_epi64(xy0, high, zn0), d = _mm512_permutex2var_epi64(xy1, high, zn1);
  simd_subtract_record(sum, index[0], _mm512_castsi512_si256(a));
  simd_subtract_record(sum, index[1], _mm512_castsi512_si256(b));
  simd_subtract_record(sum, index[2], _mm512_extracti64x4_epi64(a, 1));
  simd_subtract_record(sum, index[3], _mm512_extracti64x4_epi64(b, 1));
  simd_subtract_record(sum, index[4], _mm512_castsi512_si256(c));
  simd_subtract_record(sum, index[5], _mm512_castsi512_si256(d));
  simd_subtract_record(sum, index[6], _mm512_extracti64x4_epi64(c, 1));
  simd_subtract_record(sum, index[7], _mm512_extracti64x4_epi64(d, 1));
}
/* The sum of the lanes, which may wrap around. */
MD_FN int64_t simd_sum_i(simd_i a)
{
  const __m256i four = _mm256_add_epi64(_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64(a, 1));
  const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
  return (int64_t)((uint64_t)_mm_cvtsi128_si64(two) + (uint64_t)_mm_extract_epi64(two, 1));
}
MD_FN simd_i simd_set_i(int64_t a) { return _mm512_set1_epi64(a); }
MD_FN simd_i simd_bits(simd_d a) { return _mm512_castpd_si512(a); }
MD_FN simd_x simd_index_of(simd_d a) { return _mm512_cvtpd_epi32(a); }

/* Sixteen singles, for the test of candidates. It may accept a pair too many, and never misses one. */
#define MD_SINGLE_WIDTH 16
typedef __m512 simd_f;
typedef __m512i simd_xf; /* 16 x int32 */
MD_FN simd_f single_set(float a) { return _mm512_set1_ps(a); }
MD_FN simd_f single_load(const float *p) { return _mm512_loadu_ps(p); }
MD_FN simd_f single_fma(simd_f a, simd_f b, simd_f c) { return _mm512_fmadd_ps(a, b, c); }
MD_FN simd_xf single_index(int32_t first)
{
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm512_add_epi32(lane, _mm512_set1_epi32(first));
}
MD_FN simd_xf single_load_x(const int32_t *p) { return _mm512_loadu_si512(p); }
MD_FN simd_xf single_add_x(simd_xf a, int32_t b) { return _mm512_add_epi32(a, _mm512_set1_epi32(b)); }
/* Writes to `to` the indices of those of the first n lanes where r2 < reach2 and index != self. Returns how many.
 * There must be room for a whole vector at `to`. */
MD_FN int32_t single_append(int32_t *to, simd_f r2, simd_f reach2, int32_t n, simd_xf index, int32_t self)
{
  __mmask16 near = _mm512_cmp_ps_mask(r2, reach2, _CMP_LT_OQ);
  near &= (__mmask16)(0xffffu >> (16 - (n < 16 ? n : 16)));
  near = _mm512_mask_cmpneq_epi32_mask(near, index, _mm512_set1_epi32(self));
  _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(near, index));
  return __builtin_popcount(near);
}

#elif defined __AVX2__ && defined __FMA__
#include <immintrin.h>
#define MD_SIMD_WIDTH 4
typedef __m256d simd_d;
typedef __m256i simd_i;
typedef __m128i simd_x; /* 4 x int32 */
typedef __m256d simd_m;

MD_FN simd_d simd_set(double a) { return _mm256_set1_pd(a); }
MD_FN simd_d simd_load(const double *p) { return _mm256_loadu_pd(p); }
MD_FN simd_x simd_load_x(const int32_t *p) { return _mm_loadu_si128((const void *)p); }
MD_FN simd_x simd_set_x(int32_t a) { return _mm_set1_epi32(a); }
/* Four loads. They are as fast as the gather instruction on processors where it is fast, and several times faster on
 * others. */
MD_FN simd_d simd_gather(const double *p, simd_x i)
{
  const int64_t low = _mm_cvtsi128_si64(i), high = _mm_extract_epi64(i, 1);
  const __m128d a = _mm_loadh_pd(_mm_load_sd(p + (int32_t)low), p + (low >> 32));
  const __m128d b = _mm_loadh_pd(_mm_load_sd(p + (int32_t)high), p + (high >> 32));
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(a), b, 1);
}
MD_FN simd_x simd_gather_x(const int32_t *p, simd_x i) { return _mm_i32gather_epi32(p, i, 4); }
MD_FN simd_x simd_add_x(simd_x a, simd_x b) { return _mm_add_epi32(a, b); }
MD_FN simd_x simd_scale_x(simd_x a, int32_t b) { return _mm_mullo_epi32(a, _mm_set1_epi32(b)); }
MD_FN simd_d simd_fma(simd_d a, simd_d b, simd_d c) { return _mm256_fmadd_pd(a, b, c); }
MD_FN simd_d md_fms_v(simd_d a, simd_d b, simd_d c) { return _mm256_fmsub_pd(a, b, c); }
MD_FN simd_d simd_fnma(simd_d a, simd_d b, simd_d c) { return _mm256_fnmadd_pd(a, b, c); }
MD_FN simd_d md_max_v(simd_d a, simd_d b) { return _mm256_max_pd(a, b); }
MD_FN simd_d simd_min(simd_d a, simd_d b) { return _mm256_min_pd(a, b); }
MD_FN simd_d md_sqrt_v(simd_d a) { return _mm256_sqrt_pd(a); }
MD_FN simd_d md_floor_v(simd_d a) { return _mm256_floor_pd(a); }
MD_FN simd_m simd_less(simd_d a, simd_d b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
MD_FN simd_d simd_keep(simd_m m, simd_d a) { return _mm256_and_pd(m, a); }
MD_FN simd_d simd_keep_odd(simd_m m, simd_d a)
{
  return _mm256_and_pd(m, _mm256_or_pd(a, _mm256_castsi256_pd(_mm256_set1_epi64x(1))));
}
MD_FN simd_d simd_choose(simd_m m, simd_d a, simd_d b) { return _mm256_blendv_pd(b, a, m); }
MD_FN simd_i simd_zero_i(void) { return _mm256_setzero_si256(); }
MD_FN simd_i simd_add_bits(simd_i a, simd_d b) { return _mm256_add_epi64(a, _mm256_castpd_si256(b)); }
MD_FN void simd_store_i(int64_t *p, simd_i a) { _mm256_storeu_si256((void *)p, a); }
MD_FN void simd_store(double *p, simd_d a) { _mm256_storeu_pd(p, a); }
MD_FN simd_d simd_difference(simd_i a, uint64_t b)
{
  int64_t lane[4];
  double difference[4];
  simd_store_i(lane, a);
  for (int l = 0; l < 4; ++l) difference[l] = (double)(int64_t)((uint64_t)lane[l] - b);
  return _mm256_loadu_pd(difference);
}
MD_FN simd_d simd_reciprocal_single(simd_d a)
{
  return _mm256_cvtps_pd(_mm_div_ps(_mm_set1_ps(1.0f), _mm256_cvtpd_ps(a)));
}
MD_FN simd_d simd_rsqrt_single(simd_d a)
{
  return _mm256_cvtps_pd(_mm_div_ps(_mm_set1_ps(1.0f), _mm_sqrt_ps(_mm256_cvtpd_ps(a))));
}
MD_FN simd_d simd_rsqrt_truncated(simd_d a)
{
  const __m256i moved = _mm256_srli_epi64(_mm256_castpd_si256(a), 29);
  const __m256i words = _mm256_permutevar8x32_epi32(moved, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
  const __m128 single =
      _mm_castsi128_ps(_mm_add_epi32(_mm256_castsi256_si128(words), _mm_set1_epi32(0x40000000)));
  return _mm256_cvtps_pd(_mm_div_ps(_mm_set1_ps(1.0f), _mm_sqrt_ps(single)));
}
MD_FN double simd_least(simd_d a)
{
  double lane[4];
  _mm256_storeu_pd(lane, a);
  const double low = lane[0] < lane[1] ? lane[0] : lane[1], high = lane[2] < lane[3] ? lane[2] : lane[3];
  return low < high ? low : high;
}
MD_FN simd_d md_exponent_v(simd_d a)
{
  const __m256i shift = _mm256_set1_epi64x(INT64_C(0x4000000000000000) - INT64_C(0x3fe6a09e667f3bcd));
  const __m256i moved = _mm256_srli_epi64(_mm256_add_epi64(_mm256_castpd_si256(a), shift), 52);
  const __m256i bits = _mm256_or_si256(moved, _mm256_set1_epi64x(INT64_C(0x4330000000000000)));
  return _mm256_castsi256_pd(bits) - (0x1p52 + 1024.0);
}
MD_FN simd_d md_add_exponent_v(simd_d a, simd_d k)
{
  const __m256i more = _mm256_slli_epi64(_mm256_castpd_si256(k + 0x1.8p52), 52);
  return _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(a), more));
}
/* Transposes four rows of four words, one for each lane, to one vector for each of the words. */
MD_FN simd_d simd_two_halves(const double *a, const double *b)
{
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(a)), _mm_loadu_pd(b), 1);
}
MD_FN void simd_load_rows(const double *const *at, simd_d word[4])
{
  const simd_d xy0 = simd_two_halves(at[0], at[2]), xy1 = simd_two_halves(at[1], at[3]);
  const simd_d zt0 = simd_two_halves(at[0] + 2, at[2] + 2), zt1 = simd_two_halves(at[1] + 2, at[3] + 2);
  word[0] = _mm256_unpacklo_pd(xy0, xy1);
  word[1] = _mm256_unpackhi_pd(xy0, xy1);
  word[2] = _mm256_unpacklo_pd(zt0, zt1);
  word[3] = _mm256_unpackhi_pd(zt0, zt1);
}
/* Subtracts lane l of the vectors from the record of index[l]. */
MD_FN void simd_subtract_record(int64_t *sum, int32_t index, simd_i a)
{
  simd_i *to = (void *)(sum + 4 * (int64_t)index);
  _mm256_store_si256(to, _mm256_sub_epi64(_mm256_load_si256(to), a));
}
MD_FN void simd_subtract_records(int64_t *sum, const int32_t *index, const simd_i word[4])
{
  const simd_i xy0 = _mm256_unpacklo_epi64(word[0], word[1]), xy1 = _mm256_unpackhi_epi64(word[0], word[1]);
  const simd_i zn0 = _mm256_unpacklo_epi64(word[2], word[3]), zn1 = _mm256_unpackhi_epi64(word[2], word[3]);
  simd_subtract_record(sum, index[0], _mm256_inserti128_si256(xy0, _mm256_castsi256_si128(zn0), 1));
  simd_subtract_record(sum, index[1], _mm256_inserti128_si256(xy1, _mm256_castsi256_si128(zn1), 1));
  simd_subtract_record(sum, index[2], _mm256_permute2x128_si256(xy0, zn0, 0x31));
  simd_subtract_record(sum, index[3], _mm256_permute2x128_si256(xy1, zn1, 0x31));
}
MD_FN int64_t simd_sum_i(simd_i a)
{
  const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
  return (int64_t)((uint64_t)_mm_cvtsi128_si64(two) + (uint64_t)_mm_extract_epi64(two, 1));
}
MD_FN simd_i simd_set_i(int64_t a) { return _mm256_set1_epi64x(a); }
MD_FN simd_i simd_bits(simd_d a) { return _mm256_castpd_si256(a); }
MD_FN simd_x simd_index_of(simd_d a) { return _mm256_cvtpd_epi32(a); }
#define MD_SINGLE_WIDTH 8
typedef __m256 simd_f;
typedef __m256i simd_xf;
MD_FN simd_f single_set(float a) { return _mm256_set1_ps(a); }
MD_FN simd_f single_load(const float *p) { return _mm256_loadu_ps(p); }
MD_FN simd_f single_fma(simd_f a, simd_f b, simd_f c) { return _mm256_fmadd_ps(a, b, c); }
MD_FN simd_xf single_index(int32_t first)
{
  return _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(first));
}
MD_FN simd_xf single_load_x(const int32_t *p) { return _mm256_loadu_si256((const void *)p); }
MD_FN simd_xf single_add_x(simd_xf a, int32_t b) { return _mm256_add_epi32(a, _mm256_set1_epi32(b)); }
/* For each mask of four lanes: the byte shuffle that moves the lanes of the mask to the front. */
static const uint8_t simd_compress[16][16] = {
#define L0 0, 1, 2, 3
#define L1 4, 5, 6, 7
#define L2 8, 9, 10, 11
#define L3 12, 13, 14, 15
    {L0, L0, L0, L0}, {L0, L0, L0, L0}, {L1, L0, L0, L0}, {L0, L1, L0, L0},
    {L2, L0, L0, L0}, {L0, L2, L0, L0}, {L1, L2, L0, L0}, {L0, L1, L2, L0},
    {L3, L0, L0, L0}, {L0, L3, L0, L0}, {L1, L3, L0, L0}, {L0, L1, L3, L0},
    {L2, L3, L0, L0}, {L0, L2, L3, L0}, {L1, L2, L3, L0}, {L0, L1, L2, L3}};
#undef L0
#undef L1
#undef L2
#undef L3
MD_FN int32_t single_append(int32_t *to, simd_f r2, simd_f reach2, int32_t n, simd_xf index, int32_t self)
{
  const int near = _mm256_movemask_ps(_mm256_cmp_ps(r2, reach2, _CMP_LT_OQ));
  const int same =
      _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(index, _mm256_set1_epi32(self))));
  const int bits = near & ~same & (int)(0xffu >> (8 - (n < 8 ? n : 8)));
  const int low = bits & 15, high = bits >> 4, nlow = __builtin_popcount((unsigned)low);
  const __m128i shuffle_low = _mm_loadu_si128((const void *)simd_compress[low]);
  const __m128i shuffle_high = _mm_loadu_si128((const void *)simd_compress[high]);
  _mm_storeu_si128((void *)to, _mm_shuffle_epi8(_mm256_castsi256_si128(index), shuffle_low));
  _mm_storeu_si128((void *)(to + nlow), _mm_shuffle_epi8(_mm256_extracti128_si256(index, 1), shuffle_high));
  return nlow + __builtin_popcount((unsigned)high);
}

#else
#define MD_SIMD_WIDTH 1
typedef double simd_d;
typedef int64_t simd_i;
typedef int32_t simd_x;
typedef int simd_m;

MD_FN simd_d simd_set(double a) { return a; }
MD_FN simd_d simd_load(const double *p) { return *p; }
MD_FN simd_x simd_load_x(const int32_t *p) { return *p; }
MD_FN simd_x simd_set_x(int32_t a) { return a; }
MD_FN simd_d simd_gather(const double *p, simd_x i) { return p[i]; }
MD_FN simd_x simd_gather_x(const int32_t *p, simd_x i) { return p[i]; }
MD_FN simd_x simd_add_x(simd_x a, simd_x b) { return a + b; }
MD_FN simd_x simd_scale_x(simd_x a, int32_t b) { return a * b; }
MD_FN simd_d simd_fma(simd_d a, simd_d b, simd_d c) { return fma(a, b, c); }
MD_FN simd_d md_fms_v(simd_d a, simd_d b, simd_d c) { return fma(a, b, -c); }
MD_FN simd_d simd_fnma(simd_d a, simd_d b, simd_d c) { return fma(-a, b, c); }
MD_FN simd_d md_max_v(simd_d a, simd_d b) { return md_max(a, b); }
MD_FN simd_d simd_min(simd_d a, simd_d b) { return a < b ? a : b; }
MD_FN simd_d md_sqrt_v(simd_d a) { return md_sqrt(a); }
MD_FN simd_d md_floor_v(simd_d a) { return md_floor(a); }
MD_FN simd_m simd_less(simd_d a, simd_d b) { return a < b; }
MD_FN simd_d simd_keep(simd_m m, simd_d a) { return m ? a : 0.0; }
MD_FN simd_d simd_keep_odd(simd_m m, simd_d a) { return m ? md_odd(a) : 0.0; }
MD_FN simd_d simd_choose(simd_m m, simd_d a, simd_d b) { return m ? a : b; }
MD_FN simd_i simd_zero_i(void) { return 0; }
MD_FN simd_i simd_add_bits(simd_i a, simd_d b) { return (int64_t)((uint64_t)a + (uint64_t)md_bits(b)); }
MD_FN void simd_store_i(int64_t *p, simd_i a) { *p = a; }
MD_FN void simd_store(double *p, simd_d a) { *p = a; }
MD_FN simd_d simd_difference(simd_i a, uint64_t b) { return (double)(int64_t)((uint64_t)a - b); }
MD_FN simd_d simd_reciprocal_single(simd_d a) { return (double)(1.0f / (float)a); }
MD_FN simd_d simd_rsqrt_single(simd_d a) { return (double)(1.0f / sqrtf((float)a)); }
MD_FN simd_d simd_rsqrt_truncated(simd_d a) { return (double)(1.0f / sqrtf(md_truncate(a))); }
MD_FN double simd_least(simd_d a) { return a; }
MD_FN simd_d md_exponent_v(simd_d a) { return md_exponent(a); }
MD_FN simd_d md_add_exponent_v(simd_d a, simd_d k) { return md_add_exponent(a, k); }
/* A row of four words, and a record, for the one lane. */
MD_FN void simd_load_rows(const double *const *at, simd_d word[4])
{
  for (int w = 0; w < 4; ++w) word[w] = at[0][w];
}
MD_FN void simd_subtract_records(int64_t *sum, const int32_t *index, const simd_i word[4])
{
  int64_t *to = sum + 4 * (int64_t)*index;
  for (int w = 0; w < 4; ++w) to[w] = (int64_t)((uint64_t)to[w] - (uint64_t)word[w]);
}
MD_FN int64_t simd_sum_i(simd_i a) { return a; }
MD_FN simd_i simd_set_i(int64_t a) { return a; }
MD_FN simd_i simd_bits(simd_d a) { return md_bits(a); }
MD_FN simd_x simd_index_of(simd_d a) { return (int32_t)a; }
#define MD_SINGLE_WIDTH 1
typedef float simd_f;
typedef int32_t simd_xf;
MD_FN simd_f single_set(float a) { return a; }
MD_FN simd_f single_load(const float *p) { return *p; }
MD_FN simd_f single_fma(simd_f a, simd_f b, simd_f c) { return a * b + c; }
MD_FN simd_xf single_index(int32_t first) { return first; }
MD_FN simd_xf single_load_x(const int32_t *p) { return *p; }
MD_FN simd_xf single_add_x(simd_xf a, int32_t b) { return a + b; }
MD_FN int32_t single_append(int32_t *to, simd_f r2, simd_f reach2, int32_t n, simd_xf index, int32_t self)
{
  *to = index;
  return r2 < reach2 && index != self && n > 0;
}
#endif

/* The records of four words that x has at the indices of the lanes, as simd_load_rows. */
MD_FN void simd_load_records(const double *x, const int32_t *index, simd_d word[4])
{
  const double *at[MD_SIMD_WIDTH];
  for (int l = 0; l < MD_SIMD_WIDTH; ++l) at[l] = x + 4 * (int64_t)index[l];
  simd_load_rows(at, word);
}

/* p[0..8) = a */
MD_FN void simd_fill_8(int32_t *p, int32_t a)
{
#if MD_SIMD_WIDTH > 1
  _mm256_storeu_si256((void *)p, _mm256_set1_epi32(a));
#else
  for (int l = 0; l < 8; ++l) p[l] = a;
#endif
}

/* Interleaves eight arrays: out[8 r + l] = lane[l][r] for r < rows. It may read and write up to the next multiple of
 * 8 rows, for which the arrays and `out` must have room. */
#if MD_SIMD_WIDTH > 1
MD_FN void simd_interleave(const int32_t *const lane[8], int32_t rows, int32_t *out)
{
  for (int32_t r = 0; r < rows; r += 8, out += 64) {
    __m256 a[8], b[8];
    for (int l = 0; l < 8; ++l) a[l] = _mm256_loadu_ps((const float *)(const void *)(lane[l] + r));
    for (int l = 0; l < 8; l += 2) {
      b[l] = _mm256_unpacklo_ps(a[l], a[l + 1]);
      b[l + 1] = _mm256_unpackhi_ps(a[l], a[l + 1]);
    }
    for (int l = 0; l < 8; l += 4) {
      a[l] = _mm256_shuffle_ps(b[l], b[l + 2], 0x44);
      a[l + 1] = _mm256_shuffle_ps(b[l], b[l + 2], 0xee);
      a[l + 2] = _mm256_shuffle_ps(b[l + 1], b[l + 3], 0x44);
      a[l + 3] = _mm256_shuffle_ps(b[l + 1], b[l + 3], 0xee);
    }
    for (int l = 0; l < 4; ++l) {
      _mm256_storeu_ps((float *)(void *)(out + 8 * l), _mm256_permute2f128_ps(a[l], a[l + 4], 0x20));
      _mm256_storeu_ps((float *)(void *)(out + 8 * (l + 4)), _mm256_permute2f128_ps(a[l], a[l + 4], 0x31));
    }
  }
}
#else
MD_FN void simd_interleave(const int32_t *const lane[8], int32_t rows, int32_t *out)
{
  for (int32_t r = 0; r < rows; ++r)
    for (int l = 0; l < 8; ++l) out[8 * r + l] = lane[l][r];
}
#endif

/* The recipes of common/arithmetic/real.h, in every lane. */
MD_FN simd_d md_recip_v(simd_d a)
{
  const simd_d one = simd_set(1.0);
  simd_d y = simd_reciprocal_single(a);
  y = simd_fma(y, simd_fnma(a, y, one), y);
  return simd_fma(y, simd_fnma(a, y, one), y);
}

MD_FN simd_d md_rsqrt_v(simd_d a)
{
  const simd_d one_half = simd_set(0.5);
  const simd_d half = one_half * a;
  simd_d y = simd_rsqrt_single(a);
  y = simd_fma(y, simd_fnma(half * y, y, one_half), y);
  return simd_fma(y, simd_fnma(half * y, y, one_half), y);
}
MD_FN simd_d md_rsqrt3_v(simd_d a)
{
  const simd_d y = simd_rsqrt_truncated(a), y2 = y * y;
  const simd_d e = simd_fnma(a, y2, simd_set(1.0)), cube = y2 * y;
  return simd_fma(cube, e * simd_fma(e, simd_set(1.875), simd_set(1.5)), cube);
}

/* a < b ? x : y */
MD_FN simd_d md_select_less_v(simd_d a, simd_d b, simd_d x, simd_d y)
{
  return simd_choose(simd_less(a, b), x, y);
}

MD_FN simd_d md_fma_v(simd_d a, simd_d b, simd_d c) { return simd_fma(a, b, c); }
MD_FN simd_d md_min_v(simd_d a, simd_d b) { return simd_min(a, b); }
MD_FN simd_d md_broadcast_v(double a) { return simd_set(a); }

#define real simd_d
#define MD_T(name) name##_v
#include "common/arithmetic/elementary.h"
#undef real
#undef MD_T

/* One lane after the other, because only energies need logarithms. */
MD_FN simd_d md_ln_v(simd_d a)
{
  double lane[MD_SIMD_WIDTH];
  simd_store(lane, a);
  for (int l = 0; l < MD_SIMD_WIDTH; ++l) lane[l] = md_ln(lane[l]);
  return simd_load(lane);
}

#endif
