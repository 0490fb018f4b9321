/* Particles in the order of their ids, over all ranks: what dumps and data files are written in.
 *
 * Each rank has its own particles, anywhere in that order. They are dealt out in rounds: the ids are cut into windows
 * of as many particles each, and in every round each rank gets the particles of one window, that of rank 0 below
 * that of rank 1 and so on. So if in every round the ranks write what they got in the order of ranks, the file is sorted,
 * byte for byte the one that a single rank writes; and no rank ever holds more than its window besides its own.
 *
 * Where to cut: windows hold a multiple of MD_ROW_BLOCK particles, all the same, but the last: so a file that is
 * packed in blocks of that length has the same bytes from any number of ranks. The id at which that many are below
 * is found by bisection, of all windows at once: every rank counts its own up to an id, and the counts are added.
 * Some thirty such sums a frame, of a number for each window, whatever the ids are.
 *
 * One rank deals nothing: its particles are the only window as they are.
 *
 * Cost: each particle travels once, as its fields of particle_fields.def and its force if there is one; per rank,
 * memory for a window of at most 131072 particles twice.
 */
#ifndef MD_SRC_PARTICLES_BY_ID_H
#define MD_SRC_PARTICLES_BY_ID_H

#include "common/ranks/comm.h"

enum { MD_ROW_BLOCK = 4096 };

/* Rows to be written: row k shows particle order[k], or k if order is NULL. */
typedef struct md_rows {
  const md_particles *particles;
  const int32_t *order;
  double *const *force; /* [dim] by particle, or NULL */
} md_rows;

typedef struct md_by_id {
  md_comm *comm;
  md_rows own;
  int64_t *last; /* [windows] the largest id of each */
  int64_t windows, round;
  int64_t dealt; /* own rows that have been dealt out */
  md_particles window;
  int32_t *order;
  double *force[3];
} md_by_id;

/* Begins to deal out a rank's rows, which are in the order of ids and stay the caller's. md_by_id_end must follow, even
 * an error. Collective. MD_RUNTIME: out of memory, on every rank. */
md_status md_by_id_begin(md_by_id *deal, md_comm *comm, const md_rows *own) MD_CHECKED;

/* The rows of this rank's next window, in the order of ids: valid until the next call. *more: false if there are no more
 * rounds, for any rank. Collective. MD_RUNTIME: out of memory, on every rank. */
md_status md_by_id_next(md_by_id *deal, md_rows *rows, bool *more) MD_CHECKED;

/* Not collective. */
void md_by_id_end(md_by_id *deal);

#endif
