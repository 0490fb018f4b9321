/* Centres of mass that fixes follow from step to step, between runs: spring (common/spring/centre.h) and recenter.
 *
 * A fix begins with the image flags of its particles, if the deck has some, and else in the box. Commands that move
 * particles through faces, or by any way, tell the fixes. */
#ifndef MD_SRC_FIXES_CENTRES_H
#define MD_SRC_FIXES_CENTRES_H

#include "src/sim.h"

/* For the beginning of a run of a prepared model. Collective. MD_USAGE: a fix that follows centres of mass has a group
 * whose particles change, or the particles are to be moved by a minimiser. MD_RUNTIME: out of memory. */
md_status md_centres_begin(md_sim *sim, bool minimizes) MD_CHECKED;

/* The sums of places of the groups of fixes, while a command moves particles. */
typedef struct md_centres_moved {
  double mass[MD_FIXES_MAX], sum[MD_FIXES_MAX][3];
} md_centres_moved;

/* Between these two a command moves particles, also out of the box, into which it puts them next. Collective.
 * MD_PHYSICS: a place is not finite. MD_RUNTIME: out of memory. */
md_status md_centres_before(md_sim *sim, md_centres_moved *moved) MD_CHECKED;
md_status md_centres_after(md_sim *sim, const md_centres_moved *before) MD_CHECKED;

#endif
