/* Swaps of momenta between two slabs of the box, which drive a flux of heat or momentum (Muller-Plathe's reverse
 * nonequilibrium method). For fix thermal/conductivity and fix viscosity.
 *
 * The box has an even number of slabs along an axis. At a swap, the n most wanted particles of the lowest slab and
 * those of the slab above the middle are found, and the k-th of the one collide elastically with the k-th of the
 * other:
 *
 *    p_1' = 2 m_1 (p_1 + p_2)/(m_1 + m_2) - p_1,   p_2' = p_1 + p_2 - p_1'
 *
 * With equal masses they exchange their momenta. p_1' is rounded to the grid of momenta, so that the total momentum
 * stays to the last bit. What is wanted is compared exactly, and of equals the particle with the smaller id comes
 * first: so the pairs are the same for every engine and number of ranks.
 *
 * Cost: particles come to the host; a pass over them; and 3 reductions over ranks for each particle that is found.
 * Reference: F. Muller-Plathe, J. Chem. Phys. 106 (1997) 6082; Phys. Rev. E 59 (1999) 4894; masses: D. Nieto-Draghi and
 * J. B. Avalos, Mol. Phys. 101 (2003) 2303; the LAMMPS manual.
 *
 * Numbers of a fix: k0 N, k1 the axis of the slabs, k2 slabs, k3 n, k4 the axis of the momentum that is swapped, or
 * -1: all; k5 the speed that is wanted, or -1: the largest. State: k0 what has been moved from the lowest slab to the
 * middle. Of an action: k0 the id of the particle, k1 to k3 its new momentum, p/m_reference. */
#ifndef MD_COMMON_SWAP_SWAPS_H
#define MD_COMMON_SWAP_SWAPS_H

#include "common/model.h"
#include "common/ranks/comm.h"

enum { MD_SWAPS_MAX = 32 };

/* Makes the actions of the swaps after the present step: at most 2 MD_SWAPS_MAX. first: their kind and group. The
 * particles of this rank are current. Adds to the state what was moved. Collective. MD_USAGE: momenta are wide, or an
 * id is above 2^53. */
md_status md_swaps_choose(md_fix *fix, const md_model *model, const md_particles *particles, md_comm *comm,
                          const md_action *first, md_action *action, int *n) MD_CHECKED;

/* Reads N, or the axis of the momentum and that of the slabs after it, and so on, from the words of a fix; axes: 1 or
 * 2 of them. target: is the keyword vtarget accepted? MD_USAGE: a word is refused. */
md_status md_swaps_parse(md_fix *fix, const md_words *words, int dim, int axes, bool target) MD_CHECKED;

/* MD_USAGE: the numbers of the fix, perhaps from a file, make no sense. */
md_status md_swaps_check(const md_fix *fix, const md_model *model) MD_CHECKED;

#endif
