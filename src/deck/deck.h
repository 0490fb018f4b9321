/* Reading a deck: its sources (src/script), quotes, words, variables, commands. */
#ifndef MD_SRC_DECK_DECK_H
#define MD_SRC_DECK_DECK_H

#include "src/sim.h"
#include <stdio.h>

/* Runs the deck in `file` until its end, a finished plan or the first error. `name` names the file in messages. A
 * command may be up to 1 MiB long, continuation lines included. MD_USAGE: a longer command, or a NUL byte. */
md_status md_deck_run(md_sim *sim, FILE *file, const char *name) MD_CHECKED;

/* Reads a file of commands to its end (include). Takes the file, and closes it, unless it is the deck itself, which is
 * the first file. Errors: as md_deck_run; the message begins with the file and the line. */
md_status md_deck_file(md_sim *sim, FILE *file, const char *name) MD_CHECKED;

/* Runs one command, which another command holds as a word (if, run every). MD_USAGE: also, commands within commands
 * are too deep. */
md_status md_deck_line(md_sim *sim, const char *line) MD_CHECKED;

/* Looks at a command that is not executed (src/script/glance.h), for `myriad check`, which collects the faults. */
md_status md_deck_look(md_sim *sim, const char *line) MD_CHECKED;

/* Splits `text` into words, in place. The caller frees words->word, whose strings lie in `text`. MD_USAGE: a quote is
 * not closed. */
md_status md_words_split(char *text, md_words *words) MD_CHECKED;

/* Checks that `text`, a part of the deck, is the same on all ranks. Every rank reads its own deck file and has its
 * own -var, so this check must come before a command is executed. MD_USAGE: the texts differ. Collective. */
md_status md_deck_check_same(md_sim *sim, const char *text) MD_CHECKED;

/* *same: do all ranks have the same n bytes? Collective. */
md_status md_deck_is_same(md_sim *sim, const void *bytes, size_t n, bool *same) MD_CHECKED;

#endif
