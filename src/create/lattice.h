/* The unit of lengths that the command lattice sets: the sides of a cell along each axis, in which later commands count
 * coordinates unless they say `units box`. */
#ifndef MD_SRC_CREATE_LATTICE_H
#define MD_SRC_CREATE_LATTICE_H

#include "src/sim.h"

/* The length of one lattice unit along axis d, in sigma; 1 without a lattice, as in LAMMPS. */
double md_lattice_unit(const md_sim *sim, int d);

/* About how many sites the lattice has in the box; 0 without sites. */
double md_lattice_sites(const md_sim *sim);

#endif
