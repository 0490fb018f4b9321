/* Cells: a grid over the domain, padded by one cell on each side, and particles sorted by cell id.
 *
 * Cell ids are row-major with x fastest, so the three cells of a stencil row are one contiguous range
 * [start[c - 1], start[c + 2]) of sorted particles, and the padding means no bounds are ever tested.
 */
#ifndef MD_OPENMP_CELLS_H
#define MD_OPENMP_CELLS_H

#include "common/base/error.h"
#include <stdint.h>

typedef struct cell_grid {
  int dim;
  int64_t count[3]; /* cells along each axis, padding included; 1 along z in 2D */
  int64_t ncell;
  double lo[3];      /* of the first unpadded cell */
  double inverse[3]; /* 1/width */
  double width[3];
} cell_grid;

/* Elements of `order` that may be read behind its end, by kernels that load whole vectors. */
enum { CELL_ORDER_PADDING = 16 };

/* Particles of one kind (owned, or ghosts) in cell order. */
typedef struct cell_index {
  int64_t n;
  int32_t *start; /* [ncell + 1] */
  int32_t *order; /* [n]: order[k] = index of the k-th particle in cell order */
  int32_t *cell;  /* [n]: its cell; non-decreasing in k */
  int64_t capacity, start_capacity;
  int32_t *scratch; /* [2 n] */
} cell_index;

/* A grid over [lo, hi) with cells at least `width` wide along each axis and at most about four cells for each
 * of n particles, so that cost follows the particles and not the volume. */
cell_grid cell_grid_of(int dim, const double lo[3], const double hi[3], double width, int64_t n);

/* Bins and sorts n particles at x (dim arrays): fills start, order and cell, and adds to seconds[] the time spent
 * in binning and in sorting. Positions outside are put `inset` cells from the grid's rim: 1 for owned particles,
 * whose stencil must stay on the grid, 0 for ghosts. Deterministic for any number of threads: equal cells keep
 * the order of the input. */
md_status cell_index_build(cell_index *index, const cell_grid *grid, double *const x[3], int64_t n, int inset,
                           double seconds[2]) MD_CHECKED;

void cell_index_free(cell_index *index);
int64_t cell_index_bytes(const cell_index *index);

#endif
