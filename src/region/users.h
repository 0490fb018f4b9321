/* Fixes and computes that have numbers of a region. */
#ifndef MD_SRC_REGION_USERS_H
#define MD_SRC_REGION_USERS_H

#include "src/sim.h"

/* They take the numbers of the region that has the ID now, as in LAMMPS. Before the model is prepared for a run.
 * MD_USAGE: a region is not there any more, or a fix cannot have one of its style. */
md_status md_regions_take(md_sim *sim) MD_CHECKED;

#endif
