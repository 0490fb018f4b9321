/* The vectors of a minimiser between two engines: a row for each particle, which follows it to its owner by its id,
 * because a new engine may divide and order the particles otherwise. Cost: a sparse exchange (common/ranks/exchange.h).
 */
#ifndef MD_SRC_MINIMIZE_ROWS_H
#define MD_SRC_MINIMIZE_ROWS_H

#include "src/minimize/minimizer.h"

typedef struct md_min_rows {
  int64_t n;
  int width;     /* numbers of a row: the id and the components of all vectors */
  double *value; /* [n][width]; an id is kept by its bits */
} md_min_rows;

/* Takes the vectors in the order of ids. The view of the minimiser must be there. MD_RUNTIME: out of memory. */
md_status md_min_rows_fill(md_min_rows *rows, const md_minimizer *m) MD_CHECKED;

/* Sends particles and rows to the ranks that own the present places. Collective. MD_RUNTIME: out of memory. */
md_status md_min_rows_migrate(md_min_rows *rows, md_minimizer *m) MD_CHECKED;

/* Gives the vectors back, in the order of the present view. An engine may have moved the cuts between ranks, so that
 * particles are elsewhere. Collective. MD_RUNTIME: out of memory. */
md_status md_min_rows_empty(md_min_rows *rows, md_minimizer *m) MD_CHECKED;

void md_min_rows_free(md_min_rows *rows);

#endif
