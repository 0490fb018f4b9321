/* Changing the box between runs. */
#ifndef MD_SRC_EDIT_BOX_H
#define MD_SRC_EDIT_BOX_H

#include "src/sim.h"

/* MD_USAGE: a wall stands in the box, whose place `command` would make wrong. */
md_status md_edit_need_no_wall(const md_sim *sim, const char *command) MD_CHECKED;

#endif
