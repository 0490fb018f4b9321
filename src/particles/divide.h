/* Types that excluded groups divide (common/subtypes.h): which combinations of the groups particles have. */
#ifndef MD_SRC_PARTICLES_DIVIDE_H
#define MD_SRC_PARTICLES_DIVIDE_H

#include "src/sim.h"

/* Divides the types of the prepared model, by the groups of the particles that are there. For each run, before its
 * engine is made. Collective, with the same status on every rank. Errors: those of md_model_divide. */
md_status md_divide_types(md_sim *sim) MD_CHECKED;

#endif
