/* The two passes of a style with a density, for one pair of particles of elements a and b (eam.h); C and CUDA.
 *
 * Cutoff and overlap distance are those of the potential, the same for all elements. Cost and reference: eam.h.
 */
#ifndef MD_COMMON_DENSITY_H
#define MD_COMMON_DENSITY_H

#include "common/pair/tables/eam.h"

/* Pass 1: the density at a particle of element a by one of element b, in quanta. Overlaps count as nothing here; pass 2
 * finds them. */
MD_FN int64_t md_density_term(const md_eam *eam, int a, int b, double r2)
{
  return r2 < eam->cutoff2 && !(r2 < eam->overlap2) ? md_eam_density(eam, a, b, r2) : 0;
}

/* Pass 2 of a pair of particles, with these slopes. delta: from b to a, dim components. scale: of forces. */
typedef struct md_density_pair {
  double f;      /* force over distance, times the scale; 0 beyond the cutoff */
  double energy; /* phi; 0 beyond the cutoff */
  bool overlap;  /* the particles overlap, or a component of f delta is not below MD_DENSITY_RANGE */
} md_density_pair;

#define MD_DENSITY_RANGE 0x1p52

/* Of a force over distance, before the scale. */
MD_FN md_density_pair md_density_scaled(double force, double energy, const double *delta, int dim,
                                        double scale)
{
  md_density_pair p = {scale * force, energy, false};
  for (int d = 0; d < dim; ++d) p.overlap = p.overlap || !(fabs(p.f * delta[d]) < MD_DENSITY_RANGE);
  return p;
}

MD_FN md_density_pair md_density_force(const md_eam *eam, int a, int b, double slope_a, double slope_b,
                                       const double *delta, int dim, double r2, double scale)
{
  const md_density_pair none = {0.0, 0.0, r2 < eam->overlap2};
  if (none.overlap || !(r2 < eam->cutoff2)) return none;
  double energy;
  const double force = md_eam_force(eam, a, b, slope_a, slope_b, r2, &energy);
  return md_density_scaled(force, energy, delta, dim, scale);
}

/* The energy of an embedding, as a pair's energy is counted: twice, in fine quanta of grids.e. per_e: coarse quanta in
 * a unit of energy. */
MD_FN md_fine md_embedding_twice(double energy, double per_e)
{
  md_fine fine = {0, 0};
  md_fine_add(&fine, energy * per_e);
  fine.coarse *= 2;
  fine.rest *= 2;
  return fine;
}

#endif
