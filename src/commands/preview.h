/* Preview: reading a deck before it runs, to find output files that cannot be written.
 *
 * A run may take days, and the commands after it are executed only then. So the preview looks in advance for the
 * names of outputs:
 * 1. It replaces variables as far as they are known. Names that depend on a run are not checked, nor those after a
 *    condition that depends on a run.
 * 2. It keeps the error of the first name whose folder is missing or not writable, or which is the file of another
 *    use (src/files/file_uses.h).
 * 3. The error is reported when the first run begins, so that errors before this run come first.
 * No command makes folders, so the answer stays the same until then.
 */
#ifndef MD_SRC_COMMANDS_PREVIEW_H
#define MD_SRC_COMMANDS_PREVIEW_H

#include "src/sim.h"
#include <stdio.h>

/* Reads the deck to its end in `probe`, a temporary simulation with its own record of files, and rewinds the deck.
 * found->status: MD_OK, or the error of the first name. Collective. MD_RUNTIME: the deck cannot be read twice. */
md_status md_deck_preview(md_sim *probe, FILE *deck, const char *name, md_error_record *found) MD_CHECKED;

/* Records in sim->files what a command will read and write, as the command itself does when it runs. Errors: a name
 * that cannot be written, or is the file of another use. */
md_status md_preview_files(md_sim *sim, const char *command, const md_words *words) MD_CHECKED;

#endif
