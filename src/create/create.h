/* Making the box, for create_box, for data files and for restarts. */
#ifndef MD_SRC_CREATE_CREATE_H
#define MD_SRC_CREATE_CREATE_H

#include "src/sim.h"

/* Makes the simulation box from lo to hi (sigma), for particles of types 1..ntypes, and an empty set of particles.
 * In two dimensions the z bounds are kept for output only. MD_USAGE: there is a box already; the bounds are not
 * finite and increasing, or too far out; or ntypes is not within 1..MD_TYPES_MAX. */
md_status md_box_create(md_sim *sim, const double lo[3], const double hi[3], int64_t ntypes) MD_CHECKED;

/* MD_USAGE: the bounds of a box along axis d are not finite and increasing, or too far out. */
md_status md_box_check(double lo, double hi, int d) MD_CHECKED;

#endif
