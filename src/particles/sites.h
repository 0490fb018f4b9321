/* Placing many particles at once: on the sites of a lattice, at random, on the CS267 homework's grid.
 *
 * Each function appends this rank's part (the sites in its domain) to sim->particles, at rest, of the given
 * type; ids go on from sim->max_id and do not depend on ranks or threads. Collective. The caller counts with
 * md_sim_count. MD_USAGE: no sites, too many, or a region that does not fit; MD_RUNTIME: out of memory.
 */
#ifndef MD_SRC_PARTICLES_SITES_H
#define MD_SRC_PARTICLES_SITES_H

#include "src/sim.h"

/* Every lattice site in the box and, unless it is NULL, in the region (its faces included). */
md_status md_sites_lattice(md_sim *sim, const md_region *region, int type) MD_CHECKED;

/* n uniform positions in the box or in its part inside a region. */
md_status md_sites_random(md_sim *sim, const md_region *region, int64_t n, uint64_t seed,
                          int type) MD_CHECKED;

/* The first n sites of a grid of about equal numbers of sites per axis; particles are assigned to sites in
 * order, or shuffled by *seed. */
md_status md_sites_grid(md_sim *sim, int64_t n, const uint64_t *seed, int type) MD_CHECKED;

/* One particle; only the rank that owns the position keeps it. */
md_status md_sites_single(md_sim *sim, const double x[3], int type) MD_CHECKED;

#endif
