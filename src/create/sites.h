/* Placing many particles at once: on the sites of a lattice, at random, or on the grid of the CS267 homework.
 *
 * Each function appends the new particles of this rank (those of rectangular lattices and grids in its domain, and an
 * equal share of others) to sim->particles, at rest and of the given type. Ids continue from sim->max_id. They do not
 * depend on ranks or threads. Collective. The caller then calls md_sim_count. MD_USAGE: no sites, too many particles,
 * or a region that does not fit. MD_RUNTIME: out of memory.
 */
#ifndef MD_SRC_CREATE_SITES_H
#define MD_SRC_CREATE_SITES_H

#include "src/sim.h"

/* Places particles on every lattice site in the box and, unless region is NULL, in the region or on its faces.
 * type[m]: the type of a particle on site m of a cell, m < MD_BASIS_MAX. */
md_status md_sites_lattice(md_sim *sim, const md_region *region, const uint16_t *type) MD_CHECKED;

/* The same for any lattice and any region: tests every site of the cells that may be in the box (sites_tested.c).
 * md_sites_lattice calls it. */
md_status md_sites_tested(md_sim *sim, const md_region *region, const uint16_t *type) MD_CHECKED;

/* Places n particles uniformly at random in the box, or in its part inside a region. */
md_status md_sites_random(md_sim *sim, const md_region *region, int64_t n, uint64_t seed,
                          int type) MD_CHECKED;

/* Places particles on the first n sites of a grid, with about the same number of sites along each axis. Particles
 * take sites in order, or shuffled with the seed *seed; NULL: in order. */
md_status md_sites_grid(md_sim *sim, int64_t n, const uint64_t *seed, int type) MD_CHECKED;

/* Places one particle at x. Only the rank whose domain contains x keeps it. */
md_status md_sites_single(md_sim *sim, const double x[3], int type) MD_CHECKED;

#endif
