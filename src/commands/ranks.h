/* Settings about the ranks of a run (cmd_ranks.c). */
#ifndef MD_SRC_COMMANDS_RANKS_H
#define MD_SRC_COMMANDS_RANKS_H

#include "src/sim.h"

/* Reads N THRESHOLD [shift [AXES [ITERATIONS STOP]]], the words of fix balance, into *balance. MD_USAGE: a word is
 * refused. */
md_status md_ranks_balance_settings(const md_sim *sim, const md_words *words, md_balance *balance) MD_CHECKED;

#endif
