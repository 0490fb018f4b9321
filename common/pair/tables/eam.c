/* Potentials of the embedded-atom method: splines through values; see eam.h. */
#include "common/pair/tables/eam.h"
#include "common/base/memory.h"

#include <stdlib.h>

void md_eam_values_free(md_eam_values *v)
{
  free(v->embedding);
  free(v->density);
  free(v->pair);
  v->embedding = v->density = v->pair = NULL;
}

void md_eam_free(md_eam *eam)
{
  if (!eam) return;
  free(eam->embedding);
  free(eam->density);
  free(eam->force);
  free(eam->near2);
  free(eam->element);
  for (int f = 0; f < eam->nfile; ++f) md_eam_values_free(&eam->file[f]);
  if (eam->nfile > 0) free(eam->file);
  free(eam);
}

/* The slope at value m, times a step: differences of fourth order inside, and of lower order at both ends. */
static double slope_of(const double *f, int n, int m)
{
  if (m == 0) return f[1] - f[0];
  if (m == n - 1) return f[n - 1] - f[n - 2];
  if (m == 1 || m == n - 2) return 0.5 * (f[m + 1] - f[m - 1]);
  return ((f[m - 2] - f[m + 2]) + 8.0 * (f[m + 1] - f[m - 1])) / 12.0;
}

/* Hermite's cubic between each two of n values, with these slopes: four numbers of its value, or of its slope, in every
 * `stride` numbers of `row`. */
static void make_spline(const double *f, int n, double *row, int stride)
{
  for (int m = 0; m < n; ++m, row += stride) {
    const double slope = slope_of(f, n, m);
    row[0] = row[1] = 0.0;
    row[2] = slope;
    row[3] = f[m];
    if (m + 1 == n) continue;
    const double next = slope_of(f, n, m + 1), rise = f[m + 1] - f[m];
    row[1] = 3.0 * rise - 2.0 * slope - next;
    row[0] = slope + next - 2.0 * rise;
  }
}

static void make_slopes(const double *f, int n, double step, double *row, int stride)
{
  make_spline(f, n, row, stride);
  for (int m = 0; m < n; ++m, row += stride) {
    row[0] = 3.0 * row[0] / step;
    row[1] = 2.0 * row[1] / step;
    row[2] = row[2] / step;
    row[3] = 0.0;
  }
}

static md_status make_tables(md_eam *eam, const md_eam_values *v)
{
  const long long n = v->nelement, pairs = n * n, nr = v->nr, nrho = v->nrho;
  MD_TRY(md_array_new(&eam->embedding, n * nrho * MD_SPLINE_ROW, sizeof(double), "splines"));
  MD_TRY(md_array_new(&eam->density, pairs * nr * MD_SPLINE, sizeof(double), "splines"));
  MD_TRY(md_array_new(&eam->force, pairs * nr * MD_SPLINE_ROW, sizeof(double), "splines"));
  for (long long e = 0; e < n; ++e) {
    double *row = eam->embedding + e * nrho * MD_SPLINE_ROW;
    make_slopes(v->embedding + e * nrho, v->nrho, v->drho, row, MD_SPLINE_ROW);
    make_spline(v->embedding + e * nrho, v->nrho, row + MD_SPLINE, MD_SPLINE_ROW);
  }
  for (long long k = 0; k < pairs; ++k) {
    double *row = eam->force + k * nr * MD_SPLINE_ROW;
    make_spline(v->density + k * nr, v->nr, eam->density + k * nr * MD_SPLINE, MD_SPLINE);
    make_slopes(v->density + k * nr, v->nr, v->dr, row, MD_SPLINE_ROW);
    make_spline(v->pair + k * nr, v->nr, row + MD_SPLINE, MD_SPLINE_ROW);
  }
  return MD_OK;
}

static md_status fill(md_eam *eam, const md_eam_values *v, int ntypes)
{
  const int pairs = v->nelement * v->nelement;
  double largest = 0x1p-900;
  *eam = (md_eam){.nelement = v->nelement,
                  .nr = v->nr,
                  .nrho = v->nrho,
                  .dr = v->dr,
                  .drho = v->drho,
                  .cutoff = v->cutoff,
                  .cutoff2 = v->cutoff * v->cutoff,
                  .per_r = 1.0 / v->dr,
                  .per_rho = 1.0 / v->drho};
  for (int e = 0; e < v->nelement; ++e) eam->mass[e] = v->mass[e];
  MD_TRY(make_tables(eam, v));
  MD_TRY(md_array_new_zero(&eam->near2, pairs, sizeof *eam->near2, "a potential"));
  MD_TRY(md_array_new(&eam->element, ntypes, sizeof *eam->element, "elements of types"));
  for (int t = 0; t < ntypes; ++t) eam->element[t] = -1;
  for (long long k = 0; k < (long long)pairs * v->nr; ++k) largest = md_max(largest, fabs(v->density[k]));
  int exponent;
  (void)frexp(largest, &exponent);
  /* 2^12 neighbours of the largest density stay below 2^62 quanta. */
  eam->quanta = ldexp(1.0, 50 - exponent);
  return MD_OK;
}

md_status md_eam_new(md_eam **made, const md_eam_values *values, int ntypes)
{
  *made = NULL;
  if (values->nr < 5 || values->nrho < 5)
    return md_error(MD_USAGE, "the tables of a potential need at least 5 values, not %d and %d", values->nr,
                    values->nrho);
  md_eam *eam = calloc(1, sizeof *eam);
  if (!eam) return md_error(MD_RUNTIME, "out of memory: a potential");
  const md_status status = fill(eam, values, ntypes);
  if (status == MD_OK)
    *made = eam;
  else
    md_eam_free(eam);
  return status;
}

static uint64_t add_bits(uint64_t sum, const double *table, int64_t n)
{
  for (int64_t k = 0; k < n; ++k) sum = (sum ^ (uint64_t)md_bits(table[k])) * UINT64_C(0x100000001b3);
  return sum;
}

double md_eam_checksum(const md_eam *eam)
{
  const int64_t pairs = (int64_t)eam->nelement * eam->nelement;
  uint64_t sum = add_bits(UINT64_C(0xcbf29ce484222325), &eam->cutoff, 1);
  sum = add_bits(sum, eam->embedding, (int64_t)eam->nelement * eam->nrho * MD_SPLINE_ROW);
  sum = add_bits(sum, eam->density, pairs * eam->nr * MD_SPLINE);
  sum = add_bits(sum, eam->force, pairs * eam->nr * MD_SPLINE_ROW);
  return (double)(sum >> 11);
}
