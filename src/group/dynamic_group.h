/* Dynamic groups: those particles of a parent group that are in a region, or for which a variable or a property is not
 * 0, found anew at the beginning of each run and after every N-th step. */
#ifndef MD_SRC_GROUP_DYNAMIC_GROUP_H
#define MD_SRC_GROUP_DYNAMIC_GROUP_H

#include "src/sim.h"

/* Makes a group dynamic, or dynamic in another way. words: PARENT, then keywords with values: region ID, var NAME,
 * property NAME, every N. Collective. MD_USAGE: a word is refused. */
md_status md_dynamic_group_make(md_sim *sim, int group, const md_words *words) MD_CHECKED;

/* Is the group dynamic? */
bool md_dynamic_group_is(const md_sim *sim, int group);
/* Is it the parent of a dynamic group? */
bool md_dynamic_group_has_parent(const md_sim *sim, int group);

/* Makes a dynamic group static: its particles stay in it. Any other group stays as it is. */
md_status md_dynamic_group_end(md_sim *sim, int group) MD_CHECKED;

#endif
