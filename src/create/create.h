/* Making the box, for create_box, for data files and for restarts. */
#ifndef MD_SRC_CREATE_CREATE_H
#define MD_SRC_CREATE_CREATE_H

#include "src/sim.h"

/* Makes the simulation box from lo to hi (sigma), for particles of types 1..ntypes, and an empty set of particles.
 * tilt: xy, xz and yz (sigma), or NULL: the box is orthogonal. In two dimensions the z bounds are kept for output only.
 * MD_USAGE: there is a box already; the bounds are not finite and increasing, or too far out; a tilt is not accepted;
 * or ntypes is not within 1..MD_TYPES_MAX. */
md_status md_box_create(md_sim *sim, const double lo[3], const double hi[3], const double *tilt,
                        int64_t ntypes) MD_CHECKED;

/* Makes a box triclinic and sets its tilt factors. MD_USAGE: they are more than half
 * of a periodic side without `box tilt large`, or not accepted by md_box_check_tilt. */
md_status md_box_tilt(const md_sim *sim, md_box *box, const double tilt[3]) MD_CHECKED;

/* The kind of the box and its bounds, as LAMMPS prints them. */
enum { MD_BOX_TEXT = 256 };
void md_box_text(const md_box *box, char text[MD_BOX_TEXT]);

/* MD_USAGE: the bounds of a box along axis d are not finite and increasing, or too far out. */
md_status md_box_check(double lo, double hi, int d) MD_CHECKED;

#endif
