/* What the commands share that edit particles between runs: set, velocity, delete_atoms, displace_atoms, change_box,
 * replicate.
 *
 * An edit's result for a particle depends on the deck, on the particle's own fields and on exact sums over all
 * particles. So it does not depend on ranks, threads or the order of the particles. Random numbers are those of (seed,
 * id). After an edit a particle may be outside of its rank's domain; the next run sends it to its owner.
 */
#ifndef MD_SRC_EDIT_EDIT_H
#define MD_SRC_EDIT_EDIT_H

#include "src/formula/formula.h"
#include "src/sim.h"

/* Reads a number, or the value of a variable that is written v_NAME. MD_USAGE: it is neither. */
md_status md_edit_number(md_sim *sim, const char *word, const char *what, double *value) MD_CHECKED;

/* Reads a number, or the value of a variable v_NAME: of style atom, a value for each particle of this rank. The caller
 * frees value->each. Collective. MD_USAGE: it is neither. */
md_status md_edit_values(md_sim *sim, const char *word, const char *what, md_formula_value *value) MD_CHECKED;

/* Value number i. */
static inline double md_edit_value(const md_formula_value *value, int64_t i)
{
  return value->each ? value->each[i] : value->one;
}

/* Reads `lattice` or `box` as the value of the keyword units of `command`. */
md_status md_edit_units(const char *command, const char *word, bool *in_lattice_units) MD_CHECKED;

/* The number of an axis, from x, y or z. MD_USAGE: it is another word, or z in two dimensions. */
md_status md_edit_axis(const md_sim *sim, const char *command, const char *word, int *axis) MD_CHECKED;

/* Moves x into the box along axis d, if that is periodic, from any distance. */
double md_edit_wrap(const md_box *box, int d, double x);

/* Checks that all particles are within the fixed faces of the box, after `command` has moved them. MD_USAGE: one is
 * not; the message names the one of the smallest id. Collective. */
md_status md_edit_check_inside(md_sim *sim, const char *command) MD_CHECKED;

/* Moves faces that follow the particles to where these are now, as LAMMPS does after some commands. Collective. */
md_status md_edit_follow(md_sim *sim) MD_CHECKED;

/* Before a command moves particles in what will be this box: keeps the positions, if an axis is not periodic or
 * particles have anchors. Collective. MD_RUNTIME: out of memory. */
md_status md_edit_keep(md_sim *sim, const md_box *box) MD_CHECKED;

/* After md_edit_keep, when the command has moved them: as md_edit_check_inside. After an error all particles are where
 * they were. */
md_status md_edit_check_moved(md_sim *sim, const char *command) MD_CHECKED;

/* Moves particles of groups (bit) at once. move: writes their new places, which may be beyond periodic faces; it fails
 * before it has written any. Image flags, ways of followed particles, anchors and centres of fixes take account of it,
 * and faces follow. MD_USAGE: a particle would be outside of fixed faces, or too far from an anchor; then all particles
 * are where they were. Collective. MD_RUNTIME: out of memory. */
md_status md_edit_move(md_sim *sim, const char *command, uint32_t bit, md_status (*move)(void *context),
                       void *context) MD_CHECKED;

/* MD_USAGE: a wall stands in the box, whose place a change of the box by `command` would make wrong. */
md_status md_edit_need_no_wall(const md_sim *sim, const char *command) MD_CHECKED;

/* After particles were removed: forgets what fixes and computes keep of them by id. A later particle may get the same
 * id. Collective. MD_RUNTIME: out of memory. */
md_status md_edit_forget_removed(md_sim *sim) MD_CHECKED;

/* Chooses exactly `wanted` of the particles of all ranks for which chosen[i] is not 0, at random: those with the
 * smallest 64-bit random numbers of (seed, id). Sets chosen[i] of all others to 0. wanted: at most their number.
 * Cost: eight passes, each with 256 sums over ranks. Collective. */
md_status md_edit_choose(md_sim *sim, uint8_t *chosen, int64_t wanted, uint64_t seed) MD_CHECKED;

#endif
