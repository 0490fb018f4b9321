/* Line searches of the minimisers cg and sd: how far to go along a direction, so that the energy falls. line_search.c
 * has the three methods of `min_modify line`. */
#ifndef MD_SRC_MINIMIZE_LINE_SEARCH_H
#define MD_SRC_MINIMIZE_LINE_SEARCH_H

#include "src/minimize/minimizer.h"

/* Moves the particles along m->vector[MD_MIN_U] by the search of min_modify line, and sets m->alpha. If the search
 * fails, the particles are where they were, and m->stop says why. Collective. Errors: as of md_minimizer_move. */
md_status md_line_search(md_minimizer *m) MD_CHECKED;

/* Sets m->stop if the minimisation ends after a line search: too many evaluations, or a tolerance is reached.
 * Collective. */
md_status md_line_search_test(md_minimizer *m) MD_CHECKED;

#endif
