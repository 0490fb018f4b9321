/* --resume: a deck is started again and goes on from its newest good restart.
 *
 * The names to look for are those of the deck's `restart` commands, for which it is read once beforehand, and that of a
 * run that was stopped. Of the files there, the one furthest in the deck whose checksums are all right is taken.
 *
 * Then the deck is followed as always: particles are made, fixes and dumps named. Runs that were complete are passed
 * over, with the thermodynamic state they ended with, and so are commands whose effect is in the restart or in files:
 * velocity after a run, write_data, write_restart. The run in which the restart was written takes the particles, the
 * step and the ramp's two ends from it and goes on. Its deck up to there, the particles at the first run and the model
 * must be the same as then: anything else is refused.
 *
 * Files of dumps are cut to what was written before the restart, and added to.
 */
#ifndef MD_SRC_RESTART_RESUME_H
#define MD_SRC_RESTART_RESUME_H

#include "src/restart/restart.h"

struct md_resume {
  char path[1024];
  md_restart restart;
};

/* Chooses the restart; *found false: there is none, the deck begins at its beginning. The caller frees resume->restart if
 * there is one. The deck is read to its end in `probe`, a simulation for nothing else, and rewound. Collective.
 * MD_RUNTIME: there are some, but none is good. */
md_status md_resume_find(md_sim *sim, md_sim *probe, FILE *deck, const char *deck_name, md_resume *resume,
                         bool *found) MD_CHECKED;

/* Notes a run that begins; *passed: it was complete before. Collective. */
md_status md_resume_begin(md_sim *sim, int64_t first, int64_t last, bool *passed) MD_CHECKED;

/* In the interrupted run, its model prepared: takes over what the restart holds. Collective. */
md_status md_resume_load(md_sim *sim) MD_CHECKED;

#endif
