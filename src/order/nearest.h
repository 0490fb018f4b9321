/* The neighbours of each particle as lists, in an order that is the same on every engine: what computes need that look
 * at several neighbours at once, such as orders of bonds and patterns of crystals. */
#ifndef MD_SRC_ORDER_NEAREST_H
#define MD_SRC_ORDER_NEAREST_H

#include "src/sim.h"

/* A neighbour of a particle. */
typedef struct md_near {
  double r2;
  double delta[3]; /* from the particle to it; the third is 0 in two dimensions */
  int64_t id;
} md_near;

/* The neighbours of one particle: by distance, then by id, then by delta. */
typedef struct md_near_list {
  int64_t n, room;
  md_near *at;
} md_near_list;

typedef struct md_near_search {
  double cutoff;
  int group;    /* number of the group of the particles that have lists; their neighbours are of any group */
  int64_t most; /* lists have the nearest ones, at most as many; 0: all */
} md_near_search;

/* Makes (*lists)[particle] for all particles of this rank; those outside the group have empty ones. The caller ends
 * with md_near_free. sim->particles must be up to date. Collective. MD_USAGE: as md_neighbours_visit. MD_RUNTIME: out
 * of memory. */
md_status md_near_make(md_sim *sim, const md_near_search *search, md_near_list **lists) MD_CHECKED;
void md_near_free(md_near_list *lists, int64_t particles);

/* The words `cutoff R` and `nnn N|NULL` of computes. at: the place of the keyword, which moves past its value.
 * *known = false: the word there is neither. MD_USAGE: the value is missing or refused. */
md_status md_near_read(const md_words *words, const char *what, int *at, md_near_search *search,
                       bool *known) MD_CHECKED;

/* The search with the cutoff of the pair style if the deck gave none. */
md_near_search md_near_with_cutoff(const md_sim *sim, md_near_search search);

#endif
