/* The inner loops of the OpenMP engine, compiled once for each instruction set (kernels.c) and chosen at run
 * time: list building, forces, and moving. All instances give the same bits.
 *
 * The list. Particles are taken in blocks of 8 consecutive ones (in cell order), a lane each. Row r of a block
 * holds the r-th neighbour of each of its 8 particles, entry[8 r + lane]; short lanes are filled up with the
 * index of a particle far away. One lane a particle means that no lane ever writes another's force: full
 * lists, each pair evaluated twice, no conflicts and no reductions, and the same layout for systems with one
 * neighbour or a hundred.
 */
#ifndef MD_OPENMP_KERNELS_H
#define MD_OPENMP_KERNELS_H

#include "common/model.h"
#include "common/step.h"
#include "openmp/cells.h"

enum { BLOCK = 8, CHUNK_BLOCKS = 8, CHUNK = BLOCK * CHUNK_BLOCKS };

/* Where an index that is no neighbour points: far enough to be beyond any cutoff, near enough for its squared
 * distance to be finite in single precision. */
#define MD_FAR 0x1p60

/* A growing array of list entries; one for each thread. */
typedef struct arena {
  int32_t *entry;
  int64_t used, capacity;
  int32_t *lane[BLOCK]; /* scratch of the block being built */
  int64_t lane_capacity;
} arena;

/* Positions for the list are singles, relative to the domain's corner (single_reach2 covers their rounding). */
typedef struct list_args {
  int dim;
  const float *x[3]; /* owned, in cell order */
  int64_t n;
  float reach2; /* list radius and rounding, squared */
  const cell_grid *grid;
  const cell_index *owned; /* order[k] = k */
  const cell_index *ghost;
  const float *ghost_x[3]; /* in cell order; order[k] + n is the ghost's index */
  int32_t far;
} list_args;

typedef struct force_args {
  const double *x[3];
  const double *k;     /* coefficient table */
  const int32_t *type; /* 0-based, owned and ghosts; NULL with one type */
  int ntypes;
  double per_e,
      per_w; /* measuring: to coarse quanta of grids.e, and from the table's scale to those of grids.w */
  int64_t n;
} force_args;

typedef struct move_args {
  const double *x[3];
  double *to[3], *v[3]; /* new positions: elsewhere, or x itself */
  const float *from[3]; /* positions at the last rebin, relative to corner */
  double corner[3];
  double kicks; /* impulses are given so many times (1 or 2) */
  double quantum;
  double time_scale;
  const md_step *step;
} move_args;

typedef struct kernels {
  const char *isa;
  int lanes; /* candidates for the list that are tested at a time */
  bool (*supported)(void);
  /* Appends the list of the blocks of particles [first, last) to the arena; rows[b] per block. *inner: no ghost can be
   * in it. False: out of memory. */
  bool (*list)(const list_args *, int64_t first, int64_t last, arena *, int32_t *rows, bool *inner);
  /* Forces on [first, last), a chunk of which `entry` is the list: force[d][i - first], in quanta of the table's
   * scale. Returns the least squared distance met. */
  double (*force[MD_PAIR_KINDS])(const force_args *, int dim, int64_t first, int64_t last,
                                 const int32_t *entry, const int32_t *rows, double (*force)[CHUNK]);
  /* Adds energy and virial of the pairs of [first, last), each pair once from either side. Returns the least squared
   * distance met. */
  double (*measure[MD_PAIR_KINDS])(const force_args *, int dim, int64_t first, int64_t last,
                                   const int32_t *entry, const int32_t *rows, md_measure *);
  /* Kicks and drifts a chunk [first, last), walls included, no thermostat, one mass. impulse[d][i - first]; NULL: no
   * kick. *largest2: squared displacement since `from`. False: some particle of the range moved beyond the limit, is
   * not a number, or has left the box; all were kicked, so that the one of the smallest id can be named. */
  bool (*move)(const move_args *, const double *const *impulse, int64_t first, int64_t last,
               double *largest2);
} kernels;

/* The best supported instruction set, or the one named (NULL: best); NULL if there is none of that name. */
const kernels *kernels_choose(const char *isa);

#endif
