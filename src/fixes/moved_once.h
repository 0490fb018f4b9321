/* A check before a run: no particle is in the groups of two fixes that move particles, such as nve and nvt, because it
 * would be moved twice. Cost: a pass over the particles, where there are several such groups. */
#ifndef MD_SRC_FIXES_MOVED_ONCE_H
#define MD_SRC_FIXES_MOVED_ONCE_H

#include "src/sim.h"

/* MD_USAGE if a particle is in the groups of two fixes that move it. For the beginning of a run. Collective. */
md_status md_check_moved_once(md_sim *sim) MD_CHECKED;

#endif
