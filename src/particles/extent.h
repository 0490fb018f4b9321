/* Mass and extent of all particles, on which the grids of a pair style without a cutoff depend (common/model_scales.c).
 *
 * They are found at the first run and kept as long as the number of particles stays, so that a run and its reversal
 * have the same grids. Restarts hold the extent. */
#ifndef MD_SRC_PARTICLES_EXTENT_H
#define MD_SRC_PARTICLES_EXTENT_H

#include "src/sim.h"

/* Sets total_mass, the range of masses of particles, extent and extent_natoms of the model. Without such a pair style,
 * total_mass and extent are 0. Collective. */
md_status md_extent_find(md_sim *sim) MD_CHECKED;

#endif
