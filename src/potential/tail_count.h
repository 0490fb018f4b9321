/* The numbers of particles that tail corrections need (common/pair/tail.h). */
#ifndef MD_SRC_POTENTIAL_TAIL_COUNT_H
#define MD_SRC_POTENTIAL_TAIL_COUNT_H

#include "src/sim.h"

/* Sets the model's count of each type, if the pair style has a tail correction; before md_model_prepare. Collective. */
md_status md_tail_count(md_sim *sim) MD_CHECKED;

#endif
