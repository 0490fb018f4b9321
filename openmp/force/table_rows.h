/* Rows of tables (common/pair/tables/table.h) for vectors of pairs: each lane has a row of its own, of its own table.
 *
 * A row is loaded by one instruction, and rows are then transposed in registers. Trade-off: gathers would need four
 * instructions of a load for each lane, and are slow on many processors. Lanes without coefficients read zeros.
 */
#ifndef MD_OPENMP_FORCE_TABLE_ROWS_H
#define MD_OPENMP_FORCE_TABLE_ROWS_H

#include "common/pair/tables/table.h"
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
  simd_load_rows(at, c);
}

#endif
