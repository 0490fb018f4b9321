/* Reading a deck: lines, continuation with a trailing &, comments, quotes, variables, commands. */
#ifndef MD_SRC_DECK_DECK_H
#define MD_SRC_DECK_DECK_H

#include "src/sim.h"
#include <stdio.h>

/* Runs the deck in `file` (named for messages) to its end, a finished plan or the first error. Lines may be of any length up to
 * 1 MiB after continuation; NUL bytes and longer lines are MD_USAGE errors. */
md_status md_deck_run(md_sim *sim, FILE *file, const char *name) MD_CHECKED;

/* Every rank reads the deck for itself, from its own file and with its own -var: makes sure that this text of it is the
 * same on all, before a command is run that others do not know of. MD_USAGE: it is not. Collective. */
md_status md_deck_check_same(md_sim *sim, const char *text) MD_CHECKED;

#endif
