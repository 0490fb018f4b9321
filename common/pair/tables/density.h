/* The two passes of a style with a density, for one pair of particles of elements a and b (eam.h); C and CUDA.
 *
 * Cutoff and overlap distance are those of the potential, the same for all elements. Cost and reference: eam.h.
 */
#ifndef MD_COMMON_PAIR_TABLES_DENSITY_H
#define MD_COMMON_PAIR_TABLES_DENSITY_H

#include "common/pair/pair_term.h"
#include "common/pair/tables/eam.h"

/* Pass 1: the density at a particle of element a by one of element b, in quanta. Overlaps count as nothing here; pass 2
 * finds them. */
MD_FN int64_t md_density_term(const md_eam *eam, int a, int b, double r2)
{
  return r2 < eam->cutoff2 && !md_eam_overlaps(eam, a, b, r2) ? md_eam_density(eam, a, b, r2) : 0;
}

/* Pass 2 of a pair of particles, with these slopes. delta: from b to a, dim components. scale: of forces. The energy is
 * phi. */
MD_FN md_pair_term md_density_force(const md_eam *eam, int a, int b, double slope_a, double slope_b,
                                    const double *delta, int dim, double r2, double scale)
{
  const md_pair_term none = {0.0, 0.0, md_eam_overlaps(eam, a, b, r2)};
  if (none.overlap || !(r2 < eam->cutoff2)) return none;
  double energy;
  const double force = md_eam_force(eam, a, b, slope_a, slope_b, r2, &energy);
  return md_pair_term_of(force, energy, delta, dim, scale);
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
