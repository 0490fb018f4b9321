/* When to look at particles again, so that no way through a periodic face is missed.
 *
 * The next look is so soon that a particle with SPEEDS times the largest speed of this look crosses less than half of
 * the shortest periodic side. It is also after at most as many steps as the run has had, but for the first FIRST ones,
 * since particles that begin at rest may become fast. */
#ifndef MD_SRC_FOLLOW_LOOKS_H
#define MD_SRC_FOLLOW_LOOKS_H

#include "src/sim.h"

/* The largest component of a velocity of this rank's particles that have one of the groups `bit`, at a step of a
 * run. */
double md_looks_speed(const md_sim *sim, uint32_t bit);

/* Chooses the step of the next look of a run. most: that of this rank. Collective. */
md_status md_looks_plan(md_sim *sim, double most, int64_t *next) MD_CHECKED;

#endif
