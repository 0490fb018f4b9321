/* Followed particles: the place or velocity that each particle of a group had when it was first seen, and the present
 * one (common/sums/follow.h).
 *
 * The deck's commands see positions inside the box. A followed particle also has the number of times that it left the
 * box through each periodic face, so that its displacement goes beyond the box. */
#ifndef MD_SRC_FOLLOW_FOLLOWED_H
#define MD_SRC_FOLLOW_FOLLOWED_H

#include "common/sums/follow.h"
#include "src/output/observer.h"
#include "src/sim.h"

typedef struct md_followed md_followed;

/* What is followed: places, from those in the box on or from unwrapped ones, as far as there are image flags; or
 * velocities. If each particle has values of its own, the host makes them, and the engine does not follow. */
typedef enum md_followed_what {
  MD_FOLLOWED_PLACES,
  MD_FOLLOWED_UNWRAPPED,
  MD_FOLLOWED_VELOCITIES,
  MD_FOLLOWED_EACH
} md_followed_what;

/* Notes the particles of a group as they are now, between runs, for `name`, which messages name. Places are looked at
 * from time to time in every run. The caller ends with md_followed_end. Collective. MD_USAGE: the deck is being
 * resumed and has not the particles of this place. MD_RUNTIME: out of memory. */
md_status md_followed_begin(md_sim *sim, const char *name, int group, md_followed_what what,
                            md_followed **followed) MD_CHECKED;

/* A look by the engine at the step that is shown, without its particles. *made = false: md_followed_find must do it.
 * Collective. MD_USAGE, MD_PHYSICS: as below. */
md_status md_followed_find_in_place(md_followed *followed, md_view *view, bool *made) MD_CHECKED;

/* A look of the host, at the step that is shown, with sim->particles up to date: makes *now, with a record for each
 * particle of this rank, which is zero unless the particle is in the group. The caller frees it, also after an error.
 * Collective. MD_USAGE: a particle is new in the group. MD_PHYSICS: a particle went too far since the last look. */
md_status md_followed_find(md_followed *followed, md_follow_record **now) MD_CHECKED;

/* Exact sums over the particles of the group on all ranks, after a look at the step that is shown: of records now[],
 * or of those of the engine (NULL). sum: has room for md_follow_terms() numbers. what: as for md_exact_sums.
 * Collective. MD_PHYSICS: a term is not finite. */
md_status md_followed_sums(md_followed *followed, md_view *view, const md_follow_record *now,
                           const md_follow_sum *terms, const char *what, double *sum) MD_CHECKED;

/* The displacement of a particle since its first look. */
void md_followed_displacement(const md_followed *followed, const md_follow_record *now, double moved[3]);

/* Particles have new ids, with old[i] the one that particle i of this rank had: all records stay with their particles.
 * Between runs. Collective. MD_RUNTIME: out of memory. */
md_status md_followed_renumber(md_sim *sim, const int64_t *old) MD_CHECKED;

/* A command moves particles on purpose, or the box: a look before it, between runs. After it, and before it puts
 * particles into the box, md_followed_moved: so displacements know how far they were moved. For places. Collective.
 * Errors: as for md_followed_find, but new particles are none yet. */
md_status md_followed_refresh(md_sim *sim) MD_CHECKED;
md_status md_followed_moved(md_sim *sim) MD_CHECKED;

/* The chosen particles of this rank are at other places, with these image flags, flag[d][i]: displacements end there,
 * and go on from there. For places; velocities have no way. Between looks. Collective. MD_RUNTIME: out of memory. */
md_status md_followed_place(md_sim *sim, const uint8_t *chosen, double *const flag[3]) MD_CHECKED;

/* Does the observer follow particles from step to step? */
bool md_is_follower(const md_observer *observer);

/* The bytes for each particle of a rank that all records hold, and that a look of the host takes besides. */
void md_followed_bytes(const md_sim *sim, double *held, double *look);

/* Frees all. NULL is accepted. */
void md_followed_end(md_followed *followed);

#endif
