/* Which particles have no pair force with a particle, because one, two or three bonds connect them (special_bonds). The
 * result is a field of each particle, its ids in md_particles.special, by which engines leave pairs out of lists. */
#ifndef MD_SRC_BONDS_SPECIAL_H
#define MD_SRC_BONDS_SPECIAL_H

#include "src/sim.h"

/* Checks that the partner of each bond exists and has the bond too. Makes md_particles.special where particles two or
 * three bonds apart have no pair force; otherwise the partners of bonds suffice. Collective, with the same status on
 * every rank. MD_USAGE: a bond without a partner, or too many ids. MD_RUNTIME: no memory. */
md_status md_special_make(md_sim *sim) MD_CHECKED;

#endif
