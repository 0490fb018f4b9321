/* Lagrangian radii: the distances from the centre of mass of a group within which given parts of its mass are. */
#ifndef MD_SRC_SUMS_LAGRANGE_H
#define MD_SRC_SUMS_LAGRANGE_H

#include "src/sim.h"

/* The radius of each fraction compute->k[n] > 0, in sigma, in value[n]; 0 for an empty group. The model is prepared and
 * the particles are up to date. The same bits on any number of ranks, and on every engine in double precision.
 * Collective. MD_USAGE: an axis of the box is periodic. MD_RUNTIME: out of memory. */
md_status md_lagrange_radii(md_sim *sim, const md_compute *compute, double *value) MD_CHECKED;

#endif
