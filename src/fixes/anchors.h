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

/* The way of each tied particle of this rank from its anchor to its nearest image, less its place. */
typedef struct md_ties {
  double *way[3]; /* NULL: nothing is tied */
} md_ties;

/* A command moves particles on purpose: before, and after it, while they may be outside of the box. `after` frees, also
 * after an error, and gets the status of the command and of `before`. Collective. MD_USAGE: a particle would be farther
 * from its anchor than fixes know, so that another image would pull it. MD_RUNTIME: out of memory. */
md_status md_ties_before(md_sim *sim, md_ties *ties) MD_CHECKED;
md_status md_ties_after(md_sim *sim, const char *command, md_ties *ties, md_status status) MD_CHECKED;

/* Takes the anchors away if no fix needs them any more. */
md_status md_anchors_end(md_sim *sim) MD_CHECKED;

#endif
