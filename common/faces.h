/* Faces of the box that follow the particles (boundary s and m).
 *
 * A face that shrinks lies a margin outside of the particle that is farthest out along its axis, and a face with a
 * bound likewise, but never inside of its bound. The margin is 10^-4 of the side that create_box, read_data or
 * change_box gave. LAMMPS moves these faces when it rebuilds its lists. Here they move at every step that is shown, so
 * that they follow from the positions alone, and all engines show the same box.
 *
 * Cost: a pass over the positions of axes with such faces, and a reduction.
 * Reference: the LAMMPS manual, command boundary.
 */
#ifndef MD_COMMON_FACES_H
#define MD_COMMON_FACES_H

#include "common/box.h"
#include "common/particles.h"
#include "common/ranks/comm.h"

/* Moves the faces of `box` that follow to where the owned particles of all ranks have them. Without such faces, or
 * without particles, does nothing. Collective. */
md_status md_box_follow(md_box *box, md_comm *comm, const md_particles *p) MD_CHECKED;

#endif
