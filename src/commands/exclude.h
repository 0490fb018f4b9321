/* The keyword exclude of neigh_modify: pairs that do not interact.
 *
 * Engines know pairs of types that do not interact (md_exclusions.types), whose coefficients are zero. Pairs of groups
 * (md_exclusions.groups) count with the particles that they have when a run begins: each run finds the types that
 * a group has, or divides types by it (common/subtypes.h). Pairs that molecules exclude are left out of the lists of
 * engines (common/molecules.h).
 */
#ifndef MD_SRC_COMMANDS_EXCLUDE_H
#define MD_SRC_COMMANDS_EXCLUDE_H

#include "src/sim.h"

/* Reads exclude type I J, group A B, molecule/intra GROUP, molecule/inter GROUP or none. *k is at `exclude`, and then
 * at its last word. Collective. MD_USAGE: a word is refused, a group is dynamic, particles have no molecules, or there
 * are too many pairs or groups. */
md_status md_exclude(md_sim *sim, const md_words *words, int *k) MD_CHECKED;

#endif
