/* Sums over the pairs of each particle, such as its energy: computes pe/atom and stress/atom. The terms have the
 * formulas and the rounding of the engines' measures, so that the sums of all particles agree with these. */
#ifndef MD_SRC_COMPUTES_PAIR_SUMS_H
#define MD_SRC_COMPUTES_PAIR_SUMS_H

#include "common/arithmetic/exact.h"
#include "src/sim.h"

/* Adds the terms of a pair within its cutoff to sum[0 .. n). delta: from the other particle to the one whose sums these
 * are. k: the row of the pair in model->force_k. */
typedef void (*md_pair_terms)(const md_model *, const double delta[3], double r2, const double *k,
                              md_fine *sum);

/* Makes (*sum)[particle][n] of the pairs of each particle of this rank; 0 for those outside the group. The other one of
 * a pair is any particle. The caller frees *sum. sim->particles must be up to date, and the model prepared. Collective.
 * MD_USAGE: the pair style has no cutoff. MD_PHYSICS: particles overlap. MD_RUNTIME: out of memory. */
md_status md_pair_sums(md_sim *sim, int group, int n, md_pair_terms terms, md_fine **sum) MD_CHECKED;

#endif
