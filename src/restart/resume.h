/* --resume: a deck is started again and continues from its newest good restart.
 *
 * 1. The deck is searched once for the names in its `restart` commands (src/deck/search.h). The name of the restart of
 *    a stopped run is added.
 * 2. Of the files with these names, the one furthest in the deck whose checksums are all right is chosen.
 * 3. The deck is executed as usual: particles are made, fixes and dumps are defined.
 * 4. Runs that were complete are skipped, with the thermodynamic state at their end. Commands whose effect is in
 *    the restart or in files are skipped too: edits of particles after a run, write_data, write_restart.
 * 5. The run in which the restart was written takes the particles, the step and the two ends of the ramp from the
 *    restart, and continues.
 *
 * Three things must be the same as when the restart was written: the deck up to that run, the particles at the
 * first run, and the model. Otherwise the resume is refused.
 *
 * The files of dumps are cut to what was written before the restart, and then continued.
 *
 * The command seek loads a restart in the same way, in the middle of a deck (src/backwards/nearest.h): a jump. Then
 * only the particles, the state of fixes, the sums of averages and the step are taken. Files stay as they are, and the
 * particles keep their groups.
 */
#ifndef MD_SRC_RESTART_RESUME_H
#define MD_SRC_RESTART_RESUME_H

#include "src/restart/restart.h"

struct md_resume {
  char path[1024];
  md_restart restart;
  int64_t nleft; /* of the history's commands that were left out, those that were found */
};

/* Chooses the restart. *found is false if there is none, and the deck then starts from its beginning. If there is
 * one, the caller frees resume->restart. `probe`, a temporary simulation, searches the deck to its end, and the
 * deck is rewound. Collective. MD_RUNTIME: there are restarts, but none is good. */
md_status md_resume_find(md_sim *sim, md_sim *probe, FILE *deck, const char *deck_name, md_resume *resume,
                         bool *found) MD_CHECKED;

/* Opens the restart `path`, verifies every particle, and notes it in *resume. The caller frees resume->restart.
 * Collective. MD_RUNTIME: it is not there, or damaged. */
md_status md_resume_open(md_comm *comm, const char *path, md_resume *resume) MD_CHECKED;

/* Does the rest of the run in which the restart was written have this step? */
bool md_resume_holds(const md_restart *restart, int64_t step);

/* Records that a run begins. last: -1 for a minimisation, whose caller notes the last step at its end. *passed: the run
 * was complete before, and is skipped. In the interrupted run, takes over the particles of the restart. Collective. */
md_status md_resume_begin(md_sim *sim, int64_t first, int64_t last, bool *passed) MD_CHECKED;

/* In the interrupted run, with a prepared model: takes over the rest of the restart. Collective. */
md_status md_resume_load(md_sim *sim) MD_CHECKED;

/* A value that a formula measures, by `measure`. Between runs it is recorded, because a deck that is resumed has not
 * the particles of a place before its restart: there it takes the recorded value. Collective. MD_USAGE: the
 * deck has changed. */
md_status md_resume_measure(md_sim *sim, md_status (*measure)(void *context, double *value), void *context,
                            double *value) MD_CHECKED;

/* Records what a command that a resume leaves out has measured and drawn, and how many particles there are after it; it
 * was executed. before: the same before it. words: all words of the command. MD_RUNTIME: out of memory. */
md_status md_resume_note(md_sim *sim, const md_left_out *before, const md_words *words) MD_CHECKED;

/* Leaves out such a command: what it measured and drew counts as measured and drawn. MD_RUNTIME: out of memory. */
md_status md_resume_leave_out(md_sim *sim, const md_words *words) MD_CHECKED;

#endif
