/* The change of the box that a fix has made after the last step of a run.
 *
 * A change belongs to the next step, which takes the particles to the new box in its drift (common/step/step.h). After
 * the last step of a run there is no next one, and the program does this alone.
 */
#ifndef MD_SRC_BOX_MOVE_H
#define MD_SRC_BOX_MOVE_H

#include "src/sim.h"

/* Takes the particles to the box of model->move, if that is pending. sim->particles must be up to date. Not
 * collective. */
void md_box_move_end(md_sim *sim);

/* At the beginning of a run back, with particles in the form that engines have: undoes that for fixes that shear the
 * box, and makes model->move what it was before. Not collective. */
void md_box_move_back(md_sim *sim);

#endif
