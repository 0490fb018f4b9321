/* Cells: a grid over the domain, padded by one cell on each side, and particles sorted by cell id.
 *
 *    . . . . . .     .  padding: one cell on each side
 *    . o o o o .     o  cell of the domain
 *    .(o c o)o .    ( ) row of the stencil of cell c: sorted particles [start[c - 1], start[c + 2])
 *    . o o o o .
 *    . . . . . .
 *
 * Cell ids are row-major and x runs fastest. So the three cells of a stencil row are one contiguous range of sorted
 * particles. Because of the padding the stencil of an owned particle stays on the grid, and kernels test no bounds.
 */
#ifndef MD_OPENMP_CELLS_H
#define MD_OPENMP_CELLS_H

#include "common/base/error.h"
#include <stdint.h>

typedef struct cell_grid {
  int dim;
  int64_t count[3]; /* cells along each axis, padding included; 1 along z in 2D */
  int64_t ncell;
  double lo[3];      /* lower corner of the first cell that is no padding */
  double inverse[3]; /* 1/width */
  double width[3];
} cell_grid;

/* Elements that may be read past the end of `order`, because kernels load whole vectors. */
enum { CELL_ORDER_PADDING = 16 };

/* Particles of one kind (owned, or ghosts) in cell order. All zero: empty. */
typedef struct cell_index {
  int64_t n;
  int32_t *start; /* [ncell + 1]: cell_start, start[c] = first particle of cell c in cell order */
  int32_t *order; /* [n]: order[k] = index of the k-th particle in cell order */
  int32_t *cell;  /* [n]: cell[k] = the cell of that particle; non-decreasing in k */
  int64_t capacity, start_capacity;
  int32_t *scratch; /* [2 n] */
} cell_index;

enum { CELLS_A_PARTICLE = 4 };

/* A grid over [lo, hi). Cells are at least `width` wide along each axis. Where that would give more than about
 * CELLS_A_PARTICLE cells a particle (n particles), cells are wider, so that the cost follows the particles and not the
 * volume. An axis has at least one cell, also if the domain is thinner than `width`. */
cell_grid cell_grid_of(int dim, const double lo[3], const double hi[3], double width, int64_t n);

/* Bins and sorts n particles at x (dim arrays): fills start, order and cell. Adds the time of binning to seconds[0]
 * and that of sorting to seconds[1]. A position outside the grid is put into the nearest cell that is at least
 * `inset` cells away from the grid's rim. `inset` is 1 for owned particles, because their stencil must stay on the
 * grid, and 0 for ghosts. Particles of the same cell keep the order of the input, so that the result is the same for
 * any number of threads. The index owns its arrays (cell_index_free). MD_RUNTIME: no memory. */
md_status cell_index_build(cell_index *index, const cell_grid *grid, double *const x[3], int64_t n, int inset,
                           double seconds[2]) MD_CHECKED;

void cell_index_free(cell_index *index);

/* Bytes that the index has allocated. */
int64_t cell_index_bytes(const cell_index *index);

#endif
