/* Files that may be restarts: those that have the names of a command `restart`.
 *
 * In such a name a * stands for a step. The files are found by a look into the folder of the name. Cost: one look into
 * the folder for each name with a *, and a comparison with each name that is known already. */
#ifndef MD_SRC_RESTART_CANDIDATES_H
#define MD_SRC_RESTART_CANDIDATES_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct md_candidate {
  char *path;
  int64_t run;  /* the run of the deck in which the file was written; -1: it is not usable */
  int64_t done; /* steps of that run */
  int64_t cost; /* of the way from the file to a step that is sought, in steps */
  bool named;   /* a command names it */
} md_candidate;

typedef struct md_candidates {
  int64_t n, capacity;
  md_candidate *list;
} md_candidates;

/* Adds the files of a name in which a * stands for a step. A file that is there already is not added again.
 * MD_RUNTIME: it cannot be seen which files there are, or out of memory. */
md_status md_candidates_add(md_candidates *all, const char *pattern) MD_CHECKED;
void md_candidates_free(md_candidates *all);

#endif
