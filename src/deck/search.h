/* Searching a deck in advance: the names of its restarts and the hashes of its runs, without executing its
 * commands.
 *
 * The search executes only script control (src/script/script.h), variable and restart commands. A command that needs a
 * value which only a run produces makes the hashes from there on unknown.
 */
#ifndef MD_SRC_DECK_SEARCH_H
#define MD_SRC_DECK_SEARCH_H

#include "src/sim.h"
#include <stdio.h>

typedef struct md_search {
  int64_t nname;
  char **name; /* names in restart commands; a * stands for a step */
  int64_t nrun;
  uint64_t *deck; /* [nrun] hash of the commands up to each run (history.h) ... */
  bool *known;    /* [nrun] ... is valid: no command before it needs a value that only a run gives */
  bool open;      /* there may be more runs: their number depends on a run */
} md_search;

/* Searches the deck in the open file `deck`; `name` is for messages. A line that the search cannot understand is
 * no error here, because the later reading of the deck reports it. Rewinds the file. The caller frees *search.
 * Collective. MD_RUNTIME: the deck cannot be read twice. */
md_status md_deck_search(md_sim *sim, FILE *deck, const char *name, md_search *search) MD_CHECKED;
void md_search_free(md_search *search);

#endif
