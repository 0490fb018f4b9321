/* Looking through a deck before it runs, for files that could not be written at its end.
 *
 * A run may take days, and what stands behind it in the deck is only read then. So names of outputs are looked for
 * beforehand, variables replaced as far as they are known, and the first whose folder is missing or closed, or that
 * is another use's file (file_uses.h), is kept, to be reported when the first run begins: mistakes before it come
 * first. No command makes folders, so that nothing changes meanwhile. Names that depend on the run are left to their
 * turn.
 */
#ifndef MD_SRC_COMMANDS_PREVIEW_H
#define MD_SRC_COMMANDS_PREVIEW_H

#include "src/sim.h"
#include <stdio.h>

/* Reads the deck to its end in `probe`, a simulation for nothing else with files of its own, and rewinds it.
 * found->status: MD_OK, or that of the first name. Collective. MD_RUNTIME: the deck cannot be read twice. */
md_status md_deck_preview(md_sim *probe, FILE *deck, const char *name, md_error_record *found) MD_CHECKED;

#endif
