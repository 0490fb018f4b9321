/* `myriad frame`: one frame of the trajectory of a deck, at a step that is asked for.
 *
 * The deck is executed without the files of its outputs, up to the first of its runs that has the step. That run goes
 * to the step alone, and writes the frame there. So the frame is the one that a dump of the run would write. If
 * restarts of the deck are there, the deck goes on from the one that is nearest to the step, as with --resume, and back
 * from it where steps can be undone. Cost: the steps from the nearest restart, or from the beginning.
 */
#ifndef MD_SRC_BACKWARDS_FRAME_H
#define MD_SRC_BACKWARDS_FRAME_H

#include "src/restart/restart.h"
#include "src/sim.h"

struct md_still {
  int64_t step;
  md_words output; /* FILE [STYLE ARGUMENTS ...] */
  bool added;      /* its dump is one of the observers */
  bool done;       /* the frame was written */
};

/* The cost of the way from a restart of the deck to the step, in steps; INT64_MAX: the way from the deck's beginning
 * is shorter, or none leads there. */
int64_t md_frame_cost(const md_sim *sim, const md_restart *restart);

/* Is an output of the deck made for a frame too? A dump whose values variables give may draw random numbers, and later
 * commands count on how many were drawn. Such a dump is made into nothing: its file's word becomes /dev/null. */
bool md_frame_keeps(md_sim *sim, const md_words *words);

/* Is the step one of a run from `first` to `last`, forwards or back? */
bool md_frame_is_in(const md_still *still, int64_t first, int64_t last);

/* Makes the output of the frame, in the run that has the step. *from: receives the step at which the way begins.
 * Collective. MD_USAGE: words of the output are refused, or steps cannot be undone. */
md_status md_frame_begin(md_sim *sim, int64_t *from) MD_CHECKED;

/* After that run: writes a data file, if it was asked for, and ends the deck. Collective. */
md_status md_frame_end(md_sim *sim) MD_CHECKED;

/* MD_USAGE: no run of the deck had the step. */
md_status md_frame_check(const md_sim *sim) MD_CHECKED;

#endif
