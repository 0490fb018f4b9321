/* Anchors: the places to which fixes such as spring/self tie particles, a field of these (common/particle_fields.def).
 *
 * They are the places when the command fix is given, inside the box. In a deck that goes on from a restart, they are
 * those of the restart. The field is there as long as a fix needs it: 8 dim bytes for each particle. */
#ifndef MD_SRC_FIXES_ANCHORS_H
#define MD_SRC_FIXES_ANCHORS_H

#include "src/sim.h"

/* Sets the anchors of the particles of fix `index` of the model, a new one. Does nothing if the fix needs none, or goes
 * on from a restart. MD_USAGE: another fix ties some of these particles, or the group is dynamic. MD_RUNTIME: out of
 * memory. Collective. */
md_status md_anchors_begin(md_sim *sim, int index) MD_CHECKED;

/* Takes the anchors away if no fix needs them any more. */
md_status md_anchors_end(md_sim *sim) MD_CHECKED;

#endif
