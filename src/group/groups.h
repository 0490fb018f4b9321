/* Groups of particles by name, for commands: to find, to make and to count them. common/groups.h says how particles
 * carry their groups. */
#ifndef MD_SRC_GROUP_GROUPS_H
#define MD_SRC_GROUP_GROUPS_H

#include "src/sim.h"

/* The number of the group with this name. MD_USAGE: there is none; the message lists the groups. */
md_status md_group_find(const md_sim *sim, const char *name, int *group) MD_CHECKED;

/* The number of the group with this name; of a new and empty one if there is none. MD_USAGE: the name is empty or too
 * long, or there are too many groups. MD_RUNTIME: out of memory. Collective. */
md_status md_group_find_or_make(md_sim *sim, const char *name, int *group) MD_CHECKED;

/* Counts the particles of each group over all ranks. To call after particles have changed. Collective. */
md_status md_groups_count(md_sim *sim) MD_CHECKED;

#endif
