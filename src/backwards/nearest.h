/* The restart from which a step is reached at the least cost.
 *
 * A deck and a few restarts are its trajectory: each state between them is computed again, with the same bits. Of the
 * restarts that the command `restart` names, and those that `seek` names, the one is found from which the fewest steps
 * lead to the step that is sought. Only the headers of the files are read for that.
 *
 * A file must be of the same course as the present state. Both have the same particles at the first run and the same
 * model. Two decks part at the first of their runs that differs. From there on no command may have changed particles or
 * model, neither up to the file nor up to the present step. So a file of this deck is accepted, and one of a deck with
 * the same set-up and other runs.
 *
 * Cost of a way: its steps, and for a file also a constant number of steps. To verify and to load a file is to read 150
 * bytes a particle and to sum them up. This takes about as long as 10 steps on a host. On a GPU it counts as 200 steps,
 * because only the steps are faster there. The estimate is no measurement, so that equal decks go equal ways.
 */
#ifndef MD_SRC_BACKWARDS_NEAREST_H
#define MD_SRC_BACKWARDS_NEAREST_H

#include "src/restart/candidates.h"
#include "src/restart/resume.h"

/* Steps that take as long as a restart takes to be read. */
int64_t md_nearest_reading(const md_sim *sim);

/* Are the steps of the model that was read from a file undone by steps back, with the engine of sim? */
bool md_nearest_is_reversible(const md_sim *sim, const md_restart *restart);

/* What `seek` knows of the way to a step, and what is found of it. */
typedef struct md_nearest {
  int64_t to;     /* the step */
  int64_t direct; /* the cost of the way from the present step; INT64_MAX: there is none */
  md_words named; /* names of restarts after `from`; a * stands for a step */
  bool found;     /* there is a nearer restart: */
  md_resume resume;
} md_nearest;

/* Searches the restart. The caller frees resume.restart if there is one. Prepares the model. Collective. MD_USAGE: a
 * restart that is named is not of this course, or an output needs steps that follow each other. MD_RUNTIME: a named
 * restart is not there or is damaged. */
md_status md_nearest_find(md_sim *sim, md_nearest *nearest) MD_CHECKED;

#endif
