/* The exact sum of a quantity over the particles of all ranks. */
#ifndef MD_SRC_PARTICLES_EXACT_SUM_H
#define MD_SRC_PARTICLES_EXACT_SUM_H

#include "common/particles.h"
#include "common/ranks/comm.h"

/* The term of particle i, 0 for a particle that does not count. Called by several threads at a time. */
typedef double (*md_term)(const void *context, int64_t i);

/* Sums the terms of all particles of all ranks. Every term is rounded to about 2^-91 of the largest one, and the sum
 * once. So it has the same bits for any order, number of threads and number of ranks. Collective. MD_PHYSICS: a term is
 * not finite; `what` names the sum in the message. */
md_status md_exact_sum(md_comm *comm, const md_particles *particles, md_term term, const void *context,
                       const char *what, double *sum) MD_CHECKED;

#endif
