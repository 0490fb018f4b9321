/* Image flags: how often each particle went through each periodic face, and the places that they unwrap.
 *
 *      (xu, yu, zu) = (x, y, z) + ix a + iy b + iz c,   a, b, c: the present edges of the box
 *
 * Engines keep no image flags. A deck asks for them, for instance by a dump with xu. From then on runs look at all
 * particles from time to time, and a change of a place by more than half a side is a way through a face. The first
 * flags of a particle are those that read_data, read_restart or `set image` gave it, if the deck has asked before the
 * next run, else 0. Restarts and data files hold the flags. read_dump and rerun take them from snapshots that have them
 * or unwrapped places, and else make them 0. Values are exact, so that every engine has the same ones. */
#ifndef MD_SRC_FOLLOW_IMAGES_H
#define MD_SRC_FOLLOW_IMAGES_H

#include "src/output/observer.h"
#include "src/properties/id_values.h"
#include "src/sim.h"

typedef struct md_images md_images;

#define MD_IMAGE_NAMES "xu yu zu xsu ysu zsu ix iy iz"

/* The largest image flag that a file or a command may give, and least with the other sign. Runs count on from there. */
#define MD_IMAGE_FLAG_MOST (INT64_C(1) << 30)

/* Is the name one of MD_IMAGE_NAMES? */
bool md_images_has(const char *name);

/* Has the box periodic faces, so that there are image flags? */
bool md_images_can_be(const md_box *box);

/* The deck asks for image flags: they are counted from the next look on, until `clear`. MD_RUNTIME: out of memory. */
md_status md_images_begin(md_sim *sim) MD_CHECKED;

/* The same for `what`, a function of formulas, which has no value unless flags were counted from the first run on.
 * MD_USAGE: they were not. */
md_status md_images_need(md_sim *sim, const char *what) MD_CHECKED;

/* Prints a note if flags were not counted, where `what` begins with places in the box for that reason. */
void md_images_explain_missed(md_sim *sim, const char *what);

/* Asks for image flags if formulas that were defined need them. moves: a run comes that moves particles, which notes
 * whether flags are counted. */
md_status md_images_expect(md_sim *sim, bool moves) MD_CHECKED;

/* Holds the image flags that read_restart has brought, if any, until the next run. MD_RUNTIME: out of memory. */
md_status md_images_restore(md_sim *sim) MD_CHECKED;

/* Holds other flags for particles of this rank until the next run: flag[d][i] if chosen[i]; flag[d] NULL: as before;
 * chosen NULL: all.
 * Those along other than periodic axes stay 0. Between runs. Collective. MD_RUNTIME: out of memory. */
md_status md_images_set(md_sim *sim, const uint8_t *chosen, double *const flag[3]) MD_CHECKED;

/* The values of such a name, or of another one that formulas know (src/formula/particle_values.h), for all particles of
 * this rank, at the step that is shown or between runs. value: has room for all. sim->particles must be up to date.
 * Collective. MD_PHYSICS: a particle went too far since the last look. MD_RUNTIME: out of memory. Others: as for
 * md_particle_values_of. */
md_status md_images_or_values(md_sim *sim, const char *name, double *value) MD_CHECKED;

/* Makes the unwrapped positions of all particles of this rank, x[d][i] for all three d, from image flags where the box
 * has periodic faces. x[d] is NULL before. The caller frees it, also after an error. Otherwise as above. */
md_status md_images_unwrap(md_sim *sim, double *x[3]) MD_CHECKED;

/* Are there image flags now? */
bool md_images_are_kept(const md_sim *sim);

/* Makes the flags of all particles of this rank, which are kept, between runs: flag[d][i]. flag[d] is NULL before. The
 * caller frees it, also after an error. Collective. MD_RUNTIME: out of memory. */
md_status md_images_flags(md_sim *sim, double *flag[3]) MD_CHECKED;

/* All image flags are 0 at the next look: particles are at other places, to which no way leads. */
void md_images_forget(md_sim *sim);

/* Is there no other observer of runs? */
bool md_images_are_alone(const md_sim *sim);

/* A look at the particles as they are, if there are image flags: before a restart or another command that needs them.
 * Collective. Errors: as for md_images_or_values. */
md_status md_images_refresh(md_sim *sim) MD_CHECKED;

/* A command moves particles on purpose, or the box: between md_images_refresh and this, after which it puts them into
 * the box. So the flags know how far they were moved. Collective. MD_RUNTIME: out of memory. */
md_status md_images_place(md_sim *sim) MD_CHECKED;

/* A run has other particles now, at their first places. Collective. Errors: as for md_images_or_values. */
md_status md_images_edited(md_sim *sim) MD_CHECKED;

/* Does anything else keep values of particles by id? */
bool md_images_others(const md_sim *sim);

/* The particles are those of a restart with these columns: takes over its image flags, or forgets all. Collective. */
md_status md_images_jump(md_sim *sim, int n, const md_id_column *column) MD_CHECKED;

#endif
