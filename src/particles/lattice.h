/* Lattices and regions by name, for the commands that place or select particles. */
#ifndef MD_SRC_PARTICLES_LATTICE_H
#define MD_SRC_PARTICLES_LATTICE_H

#include "src/sim.h"

/* The length of one lattice unit along axis d, in sigma; 1 without a lattice, as in LAMMPS. */
double md_lattice_unit(const md_sim *sim, int d);

/* Finds the region named `id`, which is owned by sim. MD_USAGE: there is none; the message lists the regions. */
md_status md_region_find(const md_sim *sim, const char *id, const md_region **region) MD_CHECKED;

/* Whether the position x[0..dim) (sigma) is in the region or on its surface. In two dimensions z is 0. */
bool md_region_contains(const md_region *region, const double x[3], int dim);

/* MD_USAGE: the region is not a block, which `what` needs. */
md_status md_region_need_block(const md_region *region, const char *what) MD_CHECKED;

/* MD_USAGE: in two dimensions, the region does not contain z = 0, where the particles are. */
md_status md_region_check_plane(const md_sim *sim, const md_region *region) MD_CHECKED;

#endif
