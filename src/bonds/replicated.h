/* Bonds of the copies that the command replicate makes. A bond across a periodic face ends in the next copy, so that
 * chains stay whole. */
#ifndef MD_SRC_BONDS_REPLICATED_H
#define MD_SRC_BONDS_REPLICATED_H

#include "src/sim.h"

/* For each particle and slot of a bond, across how many periodic faces the bond goes: the nearest image of the partner
 * is its place, place[d][j], and shift[(i bonds + k) 3 + d] sides of the box along axis d. Places may be unwrapped.
 * Makes the array *shift, which the caller frees. *molecules: the largest number of a molecule. Collective, with the
 * same status on every rank. MD_USAGE: a partner does not exist, or the box is tilted. MD_RUNTIME: no memory. */
md_status md_bonds_find_shifts(md_sim *sim, double *const place[3], int32_t **shift,
                               int64_t *molecules) MD_CHECKED;

/* Gives copies number 0 to count[0] count[1] count[2] - 1 of the first n particles their bonds and molecules. Copy c is
 * in the places [c n, (c + 1) n), and its ids are larger by c max_id. */
void md_bonds_replicate(md_particles *p, int64_t n, const int64_t count[3], int64_t max_id,
                        const int32_t *shift, int64_t molecules);

#endif
