/* Lattices and regions by name, for the commands that place or select particles. */
#ifndef MD_SRC_PARTICLES_LATTICE_H
#define MD_SRC_PARTICLES_LATTICE_H

#include "src/sim.h"

/* What one lattice unit on axis d is in sigma; 1 without a lattice, as in LAMMPS. */
double md_lattice_unit(const md_sim *sim, int d);

/* The region of that name, owned by sim. MD_USAGE: there is none; the message lists those there are. */
md_status md_region_find(const md_sim *sim, const char *id, const md_region **region) MD_CHECKED;

/* Whether a position (x[0..dim), sigma) is in the region, its surface included. In two dimensions z is 0. */
bool md_region_contains(const md_region *region, const double x[3], int dim);

/* MD_USAGE unless the region is a block: `what` can work with nothing else. */
md_status md_region_need_block(const md_region *region, const char *what) MD_CHECKED;

/* MD_USAGE in two dimensions if the region does not contain z = 0, where the particles are. */
md_status md_region_check_plane(const md_sim *sim, const md_region *region) MD_CHECKED;

#endif
