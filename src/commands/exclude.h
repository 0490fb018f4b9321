/* The keyword exclude of neigh_modify: pairs that do not interact.
 *
 * Engines know pairs of types that do not interact (md_model.excluded), whose coefficients are zero. A pair of groups
 * is turned into the pairs of their types, so that each group must be all particles of some types. Trade-off: no pair
 * costs a test of groups, and every engine has it; in return a group that divides a type needs a type of its own.
 */
#ifndef MD_SRC_COMMANDS_EXCLUDE_H
#define MD_SRC_COMMANDS_EXCLUDE_H

#include "src/sim.h"

/* Reads exclude type I J, exclude group A B or exclude none: *k is at `exclude`, and then at its last word. Collective.
 * MD_USAGE: a word is refused, a group divides a type, or there are too many pairs. */
md_status md_exclude(md_sim *sim, const md_words *words, int *k) MD_CHECKED;

#endif
