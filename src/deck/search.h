/* Reading a deck beforehand, for the names of its restarts and the hashes of its runs, without doing what it says. */
#ifndef MD_SRC_DECK_SEARCH_H
#define MD_SRC_DECK_SEARCH_H

#include "src/sim.h"
#include <stdio.h>

typedef struct md_search {
  int64_t nname;
  char **name; /* of restart commands; one with * stands for a step */
  int64_t nrun;
  uint64_t *deck; /* by run: the hash of the commands up to it (history.h) ... */
  bool *known;    /* ... unless one of them needs a value that only running tells */
} md_search;

/* Follows variables and restart commands of a deck alone. What it cannot understand is left to the reading that counts.
 * The file is rewound. Collective. MD_RUNTIME: the deck cannot be read. */
md_status md_deck_search(md_sim *sim, FILE *deck, const char *name, md_search *search) MD_CHECKED;
void md_search_free(md_search *search);

#endif
