/* Sums over the pairs and bonds of each particle, such as its energy: computes pe/atom and stress/atom. The terms have
 * the formulas and the rounding of the engines' measures, so that the sums of all particles agree with these. */
#ifndef MD_SRC_COMPUTES_PAIR_SUMS_H
#define MD_SRC_COMPUTES_PAIR_SUMS_H

#include "src/sim.h"

/* What is summed over pairs, over bonds, or over both. */
typedef struct md_pair_sums_wanted {
  bool pairs, bonds;
} md_pair_sums_wanted;

#define MD_PAIR_SUMS_KEYWORDS "pair, bond, angle, dihedral, improper, kspace, fix"

/* A keyword of these computes for a part of the energy, of which most parts are 0 here. Returns false if it is none. */
bool md_pair_sums_keyword(const char *word, md_pair_sums_wanted *wanted);

/* Adds the potential energy of each particle of this rank to energy[particle], but for those outside the group: half of
 * the energies of its pairs and bonds; of embedded atoms also F(rho); of three-body styles also a third of that of each
 * triple. The other particle of a pair is any one. sim->particles must be up to date, and the model prepared.
 * Collective. MD_USAGE: the pair style has no cutoff. MD_PHYSICS: particles overlap. MD_RUNTIME: out of memory. */
md_status md_pair_energies(md_sim *sim, int group, md_pair_sums_wanted wanted, double *energy) MD_CHECKED;

/* Likewise adds sum of r_a f_b/2 over its pairs and bonds to virial[particle][MD_TENSOR]: energies, r and f from the
 * partner. MD_USAGE: also a style with three bodies, or with friction. */
md_status md_pair_virials(md_sim *sim, int group, md_pair_sums_wanted wanted, double *virial) MD_CHECKED;

/* The energy of all pairs of a particle in one group and one in the other, and the force on the first group by the
 * other: sum[0], and sum[1] to sum[3]. Pairs within both groups count once, and have no force. The same on all ranks.
 * Otherwise as above. MD_USAGE: also a style whose forces are no functions of a distance. */
md_status md_pair_between(md_sim *sim, int group, int other, double sum[4]) MD_CHECKED;

#endif
