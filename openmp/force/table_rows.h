/* Rows of tables (common/pair/table.h) for vectors of pairs: each lane has a row of its own, of its own table.
 *
 * A row is loaded by one instruction, and rows are then transposed in registers. Trade-off: gathers would need four
 * instructions of a load for each lane, and are slow on many processors. Lanes without coefficients read zeros.
 */
#ifndef MD_OPENMP_FORCE_TABLE_ROWS_H
#define MD_OPENMP_FORCE_TABLE_ROWS_H

#include "common/pair/table.h"
#include "openmp/force/simd.h"

static const double no_row[MD_TABLE_ROW];

/* The addresses of rows. Whole numbers a below 2^52 are the lower bits of the double 2^52 + a. */
MD_FN void row_addresses(simd_d high, simd_d low, simd_d row, const double *at[MD_SIMD_WIDTH])
{
  const simd_d first = high + low, none = simd_set((double)(uintptr_t)no_row);
  const simd_d address = simd_fma(row, simd_set(MD_TABLE_ROW * sizeof(double)), first);
  double lane[MD_SIMD_WIDTH];
  simd_store(lane, simd_choose(simd_less(first, simd_set(1.0)), none, address) + simd_set(0x1p52));
  for (int l = 0; l < MD_SIMD_WIDTH; ++l)
    at[l] = (const double *)(uintptr_t)((uint64_t)md_bits(lane[l]) & (UINT64_MAX >> 12));
}

MD_FN void md_table_load_v(simd_d high, simd_d low, simd_d row, simd_d c[4])
{
  const double *at[MD_SIMD_WIDTH];
  row_addresses(high, low, row, at);
#if MD_SIMD_WIDTH == 8
  const __m512i even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
  const __m512i odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
  __m512d y[4];
  for (int l = 0; l < 4; ++l)
    y[l] = _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(at[l])), _mm256_loadu_pd(at[l + 4]), 1);
  for (int k = 0; k < 2; ++k) {
    const __m512d a = k == 0 ? _mm512_unpacklo_pd(y[0], y[1]) : _mm512_unpackhi_pd(y[0], y[1]);
    const __m512d b = k == 0 ? _mm512_unpacklo_pd(y[2], y[3]) : _mm512_unpackhi_pd(y[2], y[3]);
    c[k] = _mm512_permutex2var_pd(a, even, b);
    c[k + 2] = _mm512_permutex2var_pd(a, odd, b);
  }
#elif MD_SIMD_WIDTH == 4
  __m256d y[4];
  for (int l = 0; l < 4; ++l) y[l] = _mm256_loadu_pd(at[l]);
  for (int k = 0; k < 2; ++k) {
    const __m256d a = k == 0 ? _mm256_unpacklo_pd(y[0], y[1]) : _mm256_unpackhi_pd(y[0], y[1]);
    const __m256d b = k == 0 ? _mm256_unpacklo_pd(y[2], y[3]) : _mm256_unpackhi_pd(y[2], y[3]);
    c[k] = _mm256_permute2f128_pd(a, b, 0x20);
    c[k + 2] = _mm256_permute2f128_pd(a, b, 0x31);
  }
#else
  for (int k = 0; k < 4; ++k) c[k] = at[0][k];
#endif
}

#endif
