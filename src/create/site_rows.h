/* Rows of sites: how many particles are placed at once, in parallel.
 *
 *   1. Sites come in rows. A row can be counted and filled independently of other rows.
 *   2. The rows are divided into 256 groups (SLABS). The sites of each group are counted in parallel.
 *   3. The counts are added up, so that each group knows where its particles go.
 *   4. The groups are filled in parallel.
 *
 * Only the particles are stored, and nothing depends on the number of threads. Cost: 10^8 particles of a lattice in 2 s
 * on 4 cores. Most of this time is the first touch of their memory. Where sites are made by id (create_atoms random,
 * plummer, uniform), or tested (sites_tested.c), a rank makes an equal share of them, wherever they are: the particles
 * go to their owners when a run begins.
 */
#ifndef MD_SRC_CREATE_SITE_ROWS_H
#define MD_SRC_CREATE_SITE_ROWS_H

#include "src/sim.h"

__extension__ typedef __int128 md_wide_integer;

/* The common part of all kinds of sites; each kind begins with it. */
typedef struct md_sites {
  const md_box *box;
  double lo[3], hi[3]; /* of this rank's domain */
  int64_t first_id;
  uint16_t type;
  int64_t begin, end; /* where rows are ids: those of this rank are first_id + [begin, end) */
  int64_t nrow;
  int64_t (*count)(const struct md_sites *, int64_t row);
  /* Puts the particles of a row at places [at, end) of the arrays. Returns `end`: at + count(row). */
  int64_t (*fill)(const struct md_sites *, int64_t row, md_particles *, int64_t at);
} md_sites;

/* Sites of this rank, of particles of the type, with ids after sim->max_id. expected: about how many sites there are on
 * all ranks, by which the domains of the first particles are chosen. */
md_sites md_sites_begin(md_sim *sim, int type, double expected);

/* Where rows are ids, of n sites of all ranks: gives this rank its share, in rows; and the ids [*first, *after) of one
 * of these rows. */
void md_sites_share_ids(md_sites *s, const md_comm *comm, int64_t n);
void md_site_ids(const md_sites *s, int64_t row, int64_t *first, int64_t *after);

/* Is the point, which is in the box, in this rank's domain? In a tilted box its image in the brick decides. */
bool md_sites_own_point(const md_sites *s, const double x[3]);

/* Puts a particle at rest at place `at` of the arrays. */
void md_sites_put(const md_sites *s, md_particles *p, int64_t at, int64_t id, const double x[3]);

/* Makes room for n particles. Second words of momenta, which a run may have left, are discarded. */
md_status md_sites_make_room(md_particles *p, int64_t n) MD_CHECKED;

/* Appends the particles of all rows to those of this rank. Collective. */
md_status md_sites_append(md_sim *sim, const md_sites *s) MD_CHECKED;

/* MD_USAGE: `global` new particles, over all ranks, are too many. Collective. */
md_status md_sites_check_total(const md_sim *sim, md_wide_integer global) MD_CHECKED;

#endif
