/* Reading a deck: lines, continuation with a trailing &, comments, quotes, variables, commands. */
#ifndef MD_SRC_DECK_H
#define MD_SRC_DECK_H

#include "src/sim.h"
#include <stdio.h>

/* Runs the deck in `file` (named for messages) to its end, a finished plan or the first error. Lines may be of any length up to
 * 1 MiB after continuation; NUL bytes and longer lines are MD_USAGE errors. */
md_status md_deck_run(md_sim *sim, FILE *file, const char *name) MD_CHECKED;

#endif
