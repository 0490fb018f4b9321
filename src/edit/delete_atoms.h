/* Parts of the command delete_atoms: which particles of two groups overlap (delete_overlaps.c), and new ids. */
#ifndef MD_SRC_EDIT_DELETE_ATOMS_H
#define MD_SRC_EDIT_DELETE_ATOMS_H

#include "src/sim.h"

/* Sets gone[i] = 1 for the particles of this rank to delete so that no pair nearer than `cutoff` (sigma) is left, of
 * which one is in group a and the other in group b (bits). A particle of a is deleted if such a partner is in b; of a
 * pair in which both are in both groups, the one of the smaller id. Moves particles to their owners first, and makes
 * gone anew: [particles->n], which the caller frees. MD_USAGE: the cutoff is too large for the box or the domains.
 * Collective. */
md_status md_delete_overlaps(md_sim *sim, double cutoff, uint32_t a, uint32_t b, uint8_t **gone) MD_CHECKED;

/* Numbers the particles of all ranks 1 .. natoms anew, in the order of their ids. Collective. */
md_status md_delete_compress(md_sim *sim) MD_CHECKED;

#endif
