/* Exact sums over the particles of all ranks: of masses, momenta, angular momenta and the like.
 *
 * Every term is rounded to a multiple of a quantum, and the multiples are summed as integers
 * (common/arithmetic/exact.h). The quantum is 2^-40 times a power of two q, which is about 2^-51 times the largest term
 * (fine sum). A sum is rounded once. So threads, ranks and the order of the particles do not change a bit of the
 * result.
 *
 * Cost: two passes over the particles and two reductions.
 */
#ifndef MD_SRC_SUMS_EXACT_SUM_H
#define MD_SRC_SUMS_EXACT_SUM_H

#include "common/arithmetic/exact.h"
#include "common/ranks/comm.h"

enum { MD_EXACT_SUMS_MAX = 8 };

/* Sets term[0 .. n) of particle i. It must not depend on other particles that may change meanwhile. */
typedef void (*md_exact_terms)(const void *context, const md_particles *, int64_t i, double *term);

/* sum[k] becomes the sum of term[k] over the particles of all ranks, k < n <= MD_EXACT_SUMS_MAX. MD_PHYSICS: a term is
 * not finite; `what` names it in the message. Collective. */
md_status md_exact_sums(md_comm *comm, const md_particles *particles, int n, md_exact_terms terms,
                        const void *context, const char *what, double *sum) MD_CHECKED;

/* The parts of md_exact_sums, for terms that an engine has. md_exact_counts() makes of the largest |term| of each sum
 * on this rank the largest on all ranks, and counts[k], the coarse quanta in a unit. The engine adds up
 * term * counts[k] as fine sums (common/arithmetic/exact.h). md_exact_values() makes the sums of these, total[n], of
 * all ranks. Collective. MD_PHYSICS: as above. */
md_status md_exact_counts(md_comm *comm, int n, const char *what, double *largest, double *counts) MD_CHECKED;
md_status md_exact_values(md_comm *comm, int n, const double *largest, md_wide *total,
                          double *sum) MD_CHECKED;

#endif
