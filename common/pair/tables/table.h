/* Tables of pair style table: energy and force of a pair by the square of its distance.
 *
 * The values of a file are a list of r, U and F. Each goes through a cubic spline in r, whose slopes at both ends are
 * known: -F for U; for F those that the file gives (FPRIME), or the differences of its first and last two values. From
 * these splines come U and F/r at n distances, evenly spaced in r^2 from the first of the file to the cutoff:
 *   linear  between two of them a straight line in r^2, or
 *   spline  another cubic spline in r^2, with the slopes of the splines in r at its ends.
 * A row has the four numbers of an interval, ((a p + b) p + c) p + d, p being the fraction of the interval, so that a
 * pair costs one load of a vector, and no root. A straight line has a = b = 0. The rows of F/r come first, and then
 * those of U, so that steps need only half of a table in the caches.
 *
 * Formulas find a row by its address, as the sum of two coefficients that are whole numbers (pair_table.h). It is a
 * number, and not a pointer, so that vectors and single precision have it too: 2^48 is larger than any address.
 *
 * Trade-off: straight lines take as many bytes as cubic splines, 64 for each interval, and one kernel has both.
 * Reference: the LAMMPS manual, pair_style table.
 */
#ifndef MD_COMMON_PAIR_TABLES_TABLE_H
#define MD_COMMON_PAIR_TABLES_TABLE_H

#include "common/arithmetic/real.h"
#include "common/base/error.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MD_TABLE_ROW = 4, MD_TABLE_VALUES_MAX = 1 << 24 };

/* A section of a file, of n values. */
typedef struct md_table_values {
  int n;
  double *r, *energy, *force;
  bool by_square;  /* r are evenly spaced in r^2 (RSQ) */
  bool has_slopes; /* of the force at both ends: */
  double slope[2];
} md_table_values;

/* The tables of a pair style, each of n values: n - 1 rows of F/r, and as many of U. */
typedef struct md_tables {
  bool spline;
  int n, count;
  double *row;      /* [count][2 (n - 1)][MD_TABLE_ROW] */
  double *checksum; /* [count], numbers that two tables rarely share, below 2^53 */
} md_tables;

void md_table_values_free(md_table_values *values);

/* No tables yet, of n >= 2 values each. The caller frees *made with md_tables_free. MD_RUNTIME: out of memory. */
md_status md_tables_new(md_tables **made, bool spline, int n) MD_CHECKED;
void md_tables_free(md_tables *tables);

/* Adds a table that ends at rc, with r[0] < rc <= r[n - 1]. MD_RUNTIME: out of memory. MD_USAGE: a value of the table
 * is not finite. */
md_status md_tables_add(md_tables *tables, const md_table_values *values, double rc) MD_CHECKED;

/* The four numbers of a row. high + low: the address of the first row. */
MD_FN void md_table_load(double high, double low, double row, double c[4])
{
  const double *at = (const double *)(uintptr_t)(high + low);
#ifdef __CUDA_ARCH__
  /* The low word of this sum is the row, at the throughput of a sum; a conversion has a quarter of it. */
  at += __double2loint(row + 0x1p52) * MD_TABLE_ROW;
  const double2 first = __ldg((const double2 *)at), second = __ldg((const double2 *)at + 1);
  c[0] = first.x, c[1] = first.y, c[2] = second.x, c[3] = second.y;
#else
  at += (int64_t)row * MD_TABLE_ROW;
  for (int k = 0; k < 4; ++k) c[k] = at[k];
#endif
}

#ifdef __cplusplus
}
#endif
#endif
