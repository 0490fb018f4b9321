/* Followed particles: the place and velocity that each particle had when it was first seen, and its way since then.
 *
 * The deck's commands see positions inside the box. A followed particle also has the number of times that it left the
 * box through each periodic face, so that its displacement goes beyond the box. */
#ifndef MD_SRC_FOLLOW_FOLLOWED_H
#define MD_SRC_FOLLOW_FOLLOWED_H

#include "src/output/observer.h"
#include "src/sim.h"

/* What is known of a particle: displacement since the first look, sigma, and place and velocity at that time. */
typedef struct md_follow {
  double displacement[3], place[3], velocity[3];
} md_follow;

typedef struct md_followed md_followed;

/* Notes all particles as they are now, between runs, for `what`, which messages name. With `displacements` every run
 * looks at them from time to time. The caller ends with md_followed_end. Collective. MD_USAGE: the deck is being
 * resumed and has not the particles of this place. MD_RUNTIME: out of memory. */
md_status md_followed_begin(md_sim *sim, const char *what, bool displacements,
                            md_followed **followed) MD_CHECKED;

/* Fills now[i] for each particle of this rank at the step that is shown, with sim->particles up to date. Without
 * `displacements` these are 0. Collective. MD_USAGE: a particle is new. MD_PHYSICS: a particle went too far since the
 * last look. */
md_status md_followed_find(md_followed *followed, md_follow *now) MD_CHECKED;

/* Does the observer follow particles from step to step? */
bool md_is_follower(const md_observer *observer);

/* Frees all. NULL is accepted. */
void md_followed_end(md_followed *followed);

#endif
