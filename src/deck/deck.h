/* Reading a deck: lines, continuation with a trailing &, comments, quotes, variables, commands. */
#ifndef MD_SRC_DECK_DECK_H
#define MD_SRC_DECK_DECK_H

#include "src/sim.h"
#include <stdio.h>

/* Runs the deck in `file` until its end, a finished plan or the first error. `name` names the file in messages. A
 * command may be up to 1 MiB long, continuation lines included. MD_USAGE: a longer command, or a NUL byte. */
md_status md_deck_run(md_sim *sim, FILE *file, const char *name) MD_CHECKED;

/* Checks that `text`, a part of the deck, is the same on all ranks. Every rank reads its own deck file and has its
 * own -var, so this check must come before a command is executed. MD_USAGE: the texts differ. Collective. */
md_status md_deck_check_same(md_sim *sim, const char *text) MD_CHECKED;

#endif
