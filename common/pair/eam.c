/* Potentials of the embedded-atom method: splines through values; see eam.h. */
#include "common/pair/eam.h"
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
  free(eam->pair);
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

/* Hermite's cubic between each two of n values, with these slopes. row: [n][MD_SPLINE_ROW]. */
static void make_spline(const double *f, int n, double step, double *row)
{
  for (int m = 0; m < n; ++m, row += MD_SPLINE_ROW) {
    const double slope = slope_of(f, n, m);
    row[3] = row[4] = 0.0;
    row[5] = slope;
    row[6] = f[m];
    if (m + 1 < n) {
      const double next = slope_of(f, n, m + 1), rise = f[m + 1] - f[m];
      row[4] = 3.0 * rise - 2.0 * slope - next;
      row[3] = slope + next - 2.0 * rise;
    }
    row[2] = row[5] / step;
    row[1] = 2.0 * row[4] / step;
    row[0] = 3.0 * row[3] / step;
  }
}

static md_status make_splines(double **table, const double *value, int count, int n, double step)
{
  MD_TRY(md_array_new(table, (long long)count * n * MD_SPLINE_ROW, sizeof(double), "splines"));
  for (int k = 0; k < count; ++k)
    make_spline(value + (size_t)k * (size_t)n, n, step, *table + (size_t)k * (size_t)n * MD_SPLINE_ROW);
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
                  .per_r = 1.0 / v->dr,
                  .per_rho = 1.0 / v->drho};
  for (int e = 0; e < v->nelement; ++e) eam->mass[e] = v->mass[e];
  MD_TRY(make_splines(&eam->embedding, v->embedding, v->nelement, v->nrho, v->drho));
  MD_TRY(make_splines(&eam->density, v->density, pairs, v->nr, v->dr));
  MD_TRY(make_splines(&eam->pair, v->pair, pairs, v->nr, v->dr));
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
  sum = add_bits(sum, eam->density, pairs * eam->nr * MD_SPLINE_ROW);
  sum = add_bits(sum, eam->pair, pairs * eam->nr * MD_SPLINE_ROW);
  return (double)(sum >> 11);
}
