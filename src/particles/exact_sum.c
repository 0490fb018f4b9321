/* Sums over particles that do not depend on their order; see exact_sum.h.
 *
 * The largest term chooses a quantum, a power of two. Each term is counted in fine quanta (exact.h), and the counts are
 * added up as integers of 127 bits. Cost: two passes over the particles.
 */
#include "src/particles/exact_sum.h"
#include "common/exact.h"
#include "common/ranks/reductions.h"

#include <math.h>

static md_status find_largest(md_comm *comm, const md_particles *p, md_term term, const void *context,
                              const char *what, double *largest)
{
  double most = 0.0;
#pragma omp parallel for schedule(static) reduction(max : most)
  for (int64_t i = 0; i < p->n; ++i) {
    const double size = fabs(term(context, i));
    if (!(size <= most)) most = isfinite(size) ? size : (double)INFINITY;
  }
  MD_TRY(comm->reduce->max(comm, &most, 1));
  *largest = most;
  return isfinite(most) ? MD_OK
                        : md_error(MD_PHYSICS, "%s: the value of a particle is not a finite number", what);
}

/* The coarse quantum: a power of two q with bound/q < 2^51, but not so small that 1/q overflows. */
static double quantum_for(double bound)
{
  int exponent;
  frexp(bound, &exponent);
  return ldexp(1.0, (exponent < -900 ? -900 : exponent) - 51);
}

md_status md_exact_sum(md_comm *comm, const md_particles *p, md_term term, const void *context,
                       const char *what, double *sum)
{
  double bound;
  MD_TRY(find_largest(comm, p, term, context, what, &bound));
  const double quantum = quantum_for(bound), counts = 1.0 / quantum;
  md_wide total = {{0}};
#pragma omp parallel
  {
    md_wide part = {{0}};
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < p->n; ++i) {
      md_fine fine = {0, 0};
      md_fine_add(&fine, term(context, i) * counts);
      md_wide_add(&part, md_fine_count(fine));
    }
#pragma omp critical(exact_sum)
    md_wide_merge(&total, &part);
  }
  MD_TRY(comm->reduce->sum(comm, total.limb, MD_WIDE_LIMBS));
  md_wide_normalise(&total);
  *sum = md_wide_value(&total, quantum / MD_FINE);
  return MD_OK;
}
