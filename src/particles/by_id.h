/* Dealing particles by id: the particles of all ranks are given to ranks in the order of ids. Sorted dumps and data
 * files are written this way.
 *
 * 1. The ids are cut into windows. Windows hold the same number of particles, a multiple of MD_ROW_BLOCK, except
 *    the last window. So a file that is packed in blocks of that length has the same bytes for any number of
 *    ranks.
 * 2. The last id of a window is the id up to which the right number of particles lies. Bisection finds the last ids
 *    of all windows at once: every rank counts its own particles up to an id, and the counts are summed over ranks.
 *    A frame needs about thirty such sums, with one number for each window, whatever the ids are.
 * 3. In each round, every rank gets the particles of one window: rank 0 the first one, rank 1 the next, and so on.
 * 4. If the ranks write what they got, round by round and in the order of ranks, the file is sorted. It has the
 *    same bytes as a file from a single rank.
 *
 *    ids   |  window 0  |  window 1  |  window 2  |  window 3  |
 *    rank        0            1            0            1          (two ranks)
 *    round       0            0            1            1
 *
 * A single rank deals nothing: its own particles are the only window.
 *
 * Advantage: no rank ever holds more than its own particles and a window. Cost: each particle travels once, with
 * its fields of common/particle_fields.def and, if asked for, its force and more values.
 * Memory per rank: a window of at most 131072
 * particles, twice.
 */
#ifndef MD_SRC_PARTICLES_BY_ID_H
#define MD_SRC_PARTICLES_BY_ID_H

#include "common/ranks/comm.h"

enum { MD_ROW_BLOCK = 4096 };

/* Rows to write: row k < n shows particle order[k], or particle k if order is NULL. */
typedef struct md_rows {
  const md_particles *particles;
  int64_t n;
  const int32_t *order;
  double *const *force; /* [dim] by particle, or NULL */
  int nvalue;
  double *const *value; /* [nvalue] by particle: what else rows show; NULL if nvalue is 0 */
} md_rows;

typedef struct md_by_id {
  md_comm *comm;
  md_rows own;
  int64_t *last; /* [windows] the largest id of each window */
  int64_t windows, round;
  int64_t dealt; /* number of own rows that were dealt */
  md_particles window;
  int32_t *order;
  double *force[3];
  double **value; /* [own.nvalue] of the window */
} md_by_id;

/* Begins to deal the rows of this rank, which must be in the order of ids and stay owned by the caller.
 * md_by_id_end must follow, also after an error. Collective. MD_RUNTIME: out of memory, on every rank. */
md_status md_by_id_begin(md_by_id *deal, md_comm *comm, const md_rows *own) MD_CHECKED;

/* Gives the rows of this rank's next window, in the order of ids. They are valid until the next call. *more is
 * false if no rank has more rounds. Collective. MD_RUNTIME: out of memory, on every rank. */
md_status md_by_id_next(md_by_id *deal, md_rows *rows, bool *more) MD_CHECKED;

/* Frees everything. Not collective. */
void md_by_id_end(md_by_id *deal);

#endif
