/* What a deck has done so far, so that a restart can say where in the deck it was written.
 *
 * A run is known by its place among the deck's runs and by a hash of all commands before it that can bear on the state
 * of the system. Commands that only talk are left out, so that more output may be asked of a deck before it is resumed.
 * The state when the first run begins is known by its checksum.
 */
#ifndef MD_SRC_DECK_HISTORY_H
#define MD_SRC_DECK_HISTORY_H

#include "common/model.h"
#include "src/deck/command.h"
#include <string.h>

typedef struct md_run_record {
  uint64_t deck;         /* hash of the commands up to this run, which is included */
  int64_t first, last;   /* steps */
  md_thermo_state state; /* at its end, for formulas behind it */
} md_run_record;

typedef struct md_history {
  uint64_t deck;      /* hash of the commands so far */
  uint64_t beginning; /* checksum of the particles when the first run began */
  int64_t nrun;       /* runs begun */
  md_run_record *run;
} md_history;

static inline bool md_history_is_talk(const char *command)
{
  static const char *const talk[] = {"balance",    "comm_modify",   "dump",         "dump_modify", "echo",
                                     "info",       "log",           "neigh_modify", "neighbor",    "newton",
                                     "package",    "print",         "processors",   "restart",     "suffix",
                                     "thermo",     "thermo_modify", "thermo_style", "undump",      "variable",
                                     "write_data", "write_restart"};
  for (size_t k = 0; k < sizeof talk / sizeof talk[0]; ++k)
    if (strcmp(command, talk[k]) == 0) return true;
  return false;
}

/* The words of a command, its name first. */
static inline void md_history_add(md_history *history, const md_words *words)
{
  if (md_history_is_talk(words->word[0])) return;
  uint64_t hash = history->deck;
  for (int k = 0; k <= words->n; ++k) {
    const char *word = k < words->n ? words->word[k] : "\n";
    do hash = (hash ^ (unsigned char)*word) * UINT64_C(0x100000001b3); /* FNV-1a, ends of words included */
    while (*word++);
  }
  history->deck = hash;
}

#endif
