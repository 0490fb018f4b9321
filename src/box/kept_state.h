/* A state that a run can go back to, if a particle leaves the engine's box.
 *
 * Along a face that follows the particles the engine's box ends some way beyond them (md_model_widen_box). If a
 * particle gets there within a piece of a run, the piece is done again from its beginning, with a larger box. No bit of
 * the result tells that this happened, because the box of an engine decides about cells and domains only.
 *
 * Cost: a copy of the particles for each piece, in boxes with such faces only.
 */
#ifndef MD_SRC_BOX_KEPT_STATE_H
#define MD_SRC_BOX_KEPT_STATE_H

#include "src/sim.h"

/* All zero: nothing is kept. */
typedef struct md_kept_state {
  md_model *model; /* its tables belong to the model that it is a copy of */
  md_particles particles;
  int grown; /* how often the engine's box was doubled (md_model_widen_box) */
} md_kept_state;

/* Keeps the present state. sim->particles must be up to date, in the form that engines have. MD_RUNTIME: out of
 * memory. */
md_status md_kept_state_save(md_kept_state *kept, const md_sim *sim) MD_CHECKED;

/* Brings the kept state back, with faces twice as far beyond the particles as before. The particles may then be in
 * domains of other ranks. MD_OUTGROWN: the faces are at the end of the room already. MD_RUNTIME: out of memory.
 * Collective. */
md_status md_kept_state_restore(md_kept_state *kept, md_sim *sim) MD_CHECKED;

void md_kept_state_free(md_kept_state *kept);

#endif
