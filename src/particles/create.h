/* Making the box, for create_box and for data files. */
#ifndef MD_SRC_PARTICLES_CREATE_H
#define MD_SRC_PARTICLES_CREATE_H

#include "src/sim.h"

/* Makes the simulation box from lo to hi (sigma; in two dimensions z is kept for output only) for particles of
 * types 1..ntypes, and an empty set of particles. MD_USAGE: there is a box already, bounds that are not finite
 * and increasing, or ntypes not within 1..MD_TYPES_MAX. */
md_status md_box_create(md_sim *sim, const double lo[3], const double hi[3], int64_t ntypes) MD_CHECKED;

#endif
