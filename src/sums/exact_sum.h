/* Sums over all particles of all ranks, before and after runs. The terms are added as integers, so that a sum depends
 * neither on the order of particles nor on the number of threads and ranks. */
#ifndef MD_SRC_SUMS_EXACT_SUM_H
#define MD_SRC_SUMS_EXACT_SUM_H

#include "src/sim.h"

/* The term of particle i. axis: as given to md_exact_sum. */
typedef double (*md_exact_term)(const md_sim *sim, int axis, int64_t i);

/* Sums the terms of all particles. The sum is rounded once. Terms are rounded by less than 2^-90 of the largest one.
 * Collective. MD_PHYSICS: a term is infinite; the message is `what`. */
md_status md_exact_sum(md_sim *sim, const char *what, md_exact_term term, int axis, double *sum) MD_CHECKED;

#endif
