/* Pairs of particles within a distance, on the host: each particle of this rank meets its neighbours of all ranks. */
#ifndef MD_SRC_COMPUTES_NEIGHBOURS_H
#define MD_SRC_COMPUTES_NEIGHBOURS_H

#include "src/sim.h"

/* A particle as its neighbours see it. */
typedef struct md_neighbour {
  double x[3]; /* wrapped */
  int64_t id;
  int32_t index; /* local index on its own rank */
  int32_t type;
  uint32_t group;
  int32_t rank; /* that has it */
} md_neighbour;

/* Called for each pair with r2 < cutoff^2: i is a particle of this rank and j any other one. delta points from j to i,
 * at the nearest image. With a cutoff beyond half of a periodic side, j is also a farther image, and one of i.
 * One thread sees all neighbours of an i. Threads are numbered from 0. */
typedef void (*md_neighbour_visit)(void *context, int thread, const md_neighbour *i, const md_neighbour *j,
                                   const double delta[3], double r2);

/* Called in place of the above for n particles at a time, i itself among them, where each particle has one image within
 * the cutoff, in a box that is not tilted. r2[k]: the square of the distance of i and j[k], but for rounding; it may be
 * beyond the cutoff. */
typedef void (*md_neighbour_visit_many)(void *context, int thread, const md_neighbour *i,
                                        const md_neighbour *j, const double *r2, int n);

typedef struct md_neighbour_search {
  double cutoff;
  uint32_t group; /* bit of the group of i */
  uint32_t other; /* bit of the group of j */
  md_neighbour_visit visit;
  void *context;
  /* Numbers that particles bring along: value[particle][nvalue] of this rank, or NULL. While j is visited, those of all
   * particles of its rank are at *theirs, by local index on that rank. */
  int nvalue;
  const double *value;
  const double **theirs;
} md_neighbour_search;

/* The number of threads that may call `visit`. */
int md_neighbour_threads(void);

/* The cutoff for a compute to which the deck gives none: the largest of the pair style; 0 if it has none. */
double md_neighbour_cutoff(const md_sim *sim);

/* Visits all pairs. sim->particles must be up to date. Collective. MD_USAGE: the cutoff is not positive, or is larger
 * than 16 periodic sides. MD_RUNTIME: out of memory. */
md_status md_neighbours_visit(md_sim *sim, const md_neighbour_search *search) MD_CHECKED;

/* The same for particles of one group, search->group, which is also search->other. *by_many: `many` was called, in
 * place of search->visit. */
md_status md_neighbours_visit_many(md_sim *sim, const md_neighbour_search *search,
                                   md_neighbour_visit_many many, bool *by_many) MD_CHECKED;

#endif
