/* Sums over all particles; see exact_sum.h.
 *
 * The largest term decides the quantum, and each term is a fine sum of one term (common/exact.h). So light particles
 * lose no digit because of heavy ones. Cost: two passes over the particles and two reductions. */
#include "src/sums/exact_sum.h"
#include "common/exact.h"
#include "common/ranks/reductions.h"

/* The coarse quantum of a fine sum: a power of two q with bound/q < 2^51, but not so small that 1/q overflows. */
static double quantum_for(double bound)
{
  int exponent;
  frexp(bound, &exponent);
  return ldexp(1.0, (exponent < -900 ? -900 : exponent) - 51);
}

static md_status largest_term(md_sim *sim, md_exact_term term, int axis, double *largest)
{
  const int64_t n = sim->particles.n;
  double most = 0.0;
#pragma omp parallel for schedule(static) reduction(max : most)
  for (int64_t i = 0; i < n; ++i) most = md_max(most, fabs(term(sim, axis, i)));
  *largest = most;
  return sim->comm->reduce->max(sim->comm, largest, 1);
}

md_status md_exact_sum(md_sim *sim, const char *what, md_exact_term term, int axis, double *sum)
{
  const int64_t n = sim->particles.n;
  double bound;
  MD_TRY(largest_term(sim, term, axis, &bound));
  if (!isfinite(bound)) return md_error(MD_PHYSICS, "%s", what);
  const double quantum = quantum_for(bound), counts = 1.0 / quantum;
  md_wide total = {{0}};
#pragma omp parallel
  {
    md_wide part = {{0}};
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < n; ++i) {
      md_fine one = {0, 0};
      md_fine_add(&one, term(sim, axis, i) * counts);
      md_wide_add(&part, md_fine_count(one));
    }
#pragma omp critical(exact_sum)
    md_wide_merge(&total, &part);
  }
  MD_TRY(sim->comm->reduce->sum(sim->comm, total.limb, MD_WIDE_LIMBS));
  md_wide_normalise(&total);
  *sum = md_wide_value(&total, quantum / MD_FINE);
  return MD_OK;
}
