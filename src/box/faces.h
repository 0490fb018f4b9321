/* Faces of the box that follow the particles (common/faces.h), outside of engines. */
#ifndef MD_SRC_BOX_FACES_H
#define MD_SRC_BOX_FACES_H

#include "common/box.h"
#include "src/sim.h"

/* Begins to follow with a box whose bounds were just given: sets margins and bounds, and moves faces that shrink out by
 * the margin. */
void md_faces_begin(md_box *box);

/* Moves the faces of the model's box that follow (md_box_follow). MD_USAGE: a particle is too far out for a box.
 * Collective. */
md_status md_faces_follow(md_sim *sim) MD_CHECKED;

/* Moves the faces that follow to where an engine has them (md_model_widen_box), for the present places of the
 * particles. The model is prepared. Errors as above. Collective. */
md_status md_faces_widen(md_sim *sim, int grown) MD_CHECKED;

/* Put lo, hi, room and tilt factors of a box that changes in runs into an array, and take them from it. Those of
 * another box are not put; from an array that is all 0 nothing is taken. */
void md_faces_put(const md_box *box, double to[10]);
void md_faces_take(md_box *box, const double from[10]);

#endif
