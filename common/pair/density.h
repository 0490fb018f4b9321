/* The two passes of a style with a density, for one pair of particles; for the engines of the host. */
#ifndef MD_COMMON_DENSITY_H
#define MD_COMMON_DENSITY_H

#include "common/faults.h"
#include "common/model.h"

/* The row of the tables of two types, from 1. */
static inline int64_t md_type_row(const md_model *model, int i, int j)
{
  return (int64_t)(i - 1) * model->ntypes + (j - 1);
}

/* Pass 1: the density at a particle of type i by one of type j, in quanta. Overlaps count as nothing here; pass 2 finds
 * them. */
static inline int64_t md_density_term(const md_model *model, int i, int j, double r2)
{
  const md_eam *eam = model->pair.eam;
  const int64_t row = md_type_row(model, i, j);
  if (!(r2 < model->force_k[row * MD_PAIR_K]) || r2 < model->overlap2[row]) return 0;
  return md_eam_density(eam, eam->element[i - 1], eam->element[j - 1], r2);
}

/* Pass 2 of a pair of particles of types i and j, with these slopes. delta: from j to i. scale: of forces. */
typedef struct md_density_pair {
  double f;      /* force over distance, times the scale; 0 beyond the cutoff */
  double energy; /* phi; 0 beyond the cutoff */
  bool overlap;  /* the particles overlap, or a component of f delta is not below MD_DENSITY_RANGE */
} md_density_pair;

#define MD_DENSITY_RANGE 0x1p52

static inline md_density_pair md_density_force(const md_model *model, int i, int j, double slope_i,
                                               double slope_j, const double *delta, double r2, double scale)
{
  const md_eam *eam = model->pair.eam;
  const int64_t row = md_type_row(model, i, j);
  md_density_pair p = {0.0, 0.0, r2 < model->overlap2[row]};
  if (p.overlap || !(r2 < model->force_k[row * MD_PAIR_K])) return p;
  p.f = scale * md_eam_force(eam, eam->element[i - 1], eam->element[j - 1], slope_i, slope_j, r2, &p.energy);
  for (int d = 0; d < model->box.dim; ++d)
    p.overlap = p.overlap || !(fabs(p.f * delta[d]) < MD_DENSITY_RANGE);
  return p;
}

/* Twice the energy of an embedding in fine quanta of grids.e, as a pair's energy is counted. */
static inline md_int128 md_embedding_count2(const md_model *model, double energy)
{
  md_fine fine = {0, 0};
  md_fine_add(&fine, energy / (model->grids.e * MD_FINE));
  return 2 * md_fine_count(fine);
}

#endif
