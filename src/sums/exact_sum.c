/* Exact sums over particles; see exact_sum.h. */
#include "src/sums/exact_sum.h"
#include "common/arithmetic/exact.h"
#include "common/ranks/reductions.h"

/* The coarse quantum of a fine sum: a power of two q with bound/q < 2^51, but not so small that 1/q overflows. In
 * a fine sum, light particles lose no precision because of heavy ones. */
static double quantum_for(double bound)
{
  int exponent;
  frexp(bound, &exponent);
  return ldexp(1.0, (exponent < -900 ? -900 : exponent) - 51);
}

/* Finds the largest |term| of each sum on this rank; infinite if one is not a number. */
static void find_largest(const md_particles *p, int n, md_exact_terms terms, const void *context,
                         double *largest)
{
  double most[MD_EXACT_SUMS_MAX] = {0.0};
#pragma omp parallel for schedule(static) reduction(max : most)
  for (int64_t i = 0; i < p->n; ++i) {
    double term[MD_EXACT_SUMS_MAX];
    terms(context, p, i, term);
    for (int k = 0; k < n; ++k) {
      const double size = fabs(term[k]);
      if (!(size <= most[k])) most[k] = isfinite(size) ? size : (double)INFINITY;
    }
  }
  memcpy(largest, most, sizeof most);
}

static void add_terms(const md_particles *p, int n, md_exact_terms terms, const void *context,
                      const double *counts, md_wide *total)
{
#pragma omp parallel
  {
    md_wide part[MD_EXACT_SUMS_MAX] = {{{0}}};
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < p->n; ++i) {
      double term[MD_EXACT_SUMS_MAX];
      terms(context, p, i, term);
      for (int k = 0; k < n; ++k) {
        md_fine fine = {0, 0};
        md_fine_add(&fine, term[k] * counts[k]);
        md_wide_add(&part[k], md_fine_count(fine));
      }
    }
#pragma omp critical(exact_sum)
    for (int k = 0; k < n; ++k) md_wide_merge(&total[k], &part[k]);
  }
}

md_status md_exact_counts(md_comm *comm, int n, const char *what, double *largest, double *counts)
{
  MD_TRY(comm->reduce->max(comm, largest, n));
  for (int k = 0; k < n; ++k) {
    if (!isfinite(largest[k])) return md_error(MD_PHYSICS, "%s of a particle is not a finite number", what);
    counts[k] = 1.0 / quantum_for(largest[k]);
  }
  return MD_OK;
}

md_status md_exact_values(md_comm *comm, int n, const double *largest, md_wide *total, double *sum)
{
  MD_TRY(comm->reduce->sum(comm, total[0].limb, n * MD_WIDE_LIMBS));
  for (int k = 0; k < n; ++k) {
    md_wide_normalise(&total[k]);
    sum[k] = md_wide_value(&total[k], quantum_for(largest[k]) / MD_FINE);
  }
  return MD_OK;
}

md_status md_exact_sums(md_comm *comm, const md_particles *p, int n, md_exact_terms terms,
                        const void *context, const char *what, double *sum)
{
  double largest[MD_EXACT_SUMS_MAX], counts[MD_EXACT_SUMS_MAX];
  md_wide total[MD_EXACT_SUMS_MAX] = {{{0}}};
  find_largest(p, n, terms, context, largest);
  MD_TRY(md_exact_counts(comm, n, what, largest, counts));
  add_terms(p, n, terms, context, counts, total);
  return md_exact_values(comm, n, largest, total, sum);
}
