/* The grid of cells: a uniform grid in row-major order, and the numbers of its cells.
 *
 * The grid has a border of cells on every side, so that a stencil tests no bounds. The particles of a cell lie
 * together. In two dimensions, with a border of one cell:
 *
 *     . . . . . .        . : the border: empty, or ghosts
 *     . o o o o .        o : cells of the box, or of the domain of a rank
 *     . o o o o .
 *     . . . . . .        cell number = x + y row (+ z layer), x is the fastest
 *
 * Trade-off: with the border a search needs no tests at the ends of the grid. In return there are more cells. Cost: 4
 * bytes a cell for the first particle, and divisions by multiplication only.
 */
#ifndef MD_GPU_PARTICLE_GRID_CUH
#define MD_GPU_PARTICLE_GRID_CUH

#include "gpu/particle/layout.cuh"

/* Exact division of 0 <= n < 2^31 by a fixed d >= 1, with a multiplication and a shift. Reference: Granlund and
 * Montgomery, PLDI 1994. */
struct divisor {
  unsigned d, multiplier, shift;
};

inline divisor divisor_of(unsigned d)
{
  unsigned shift = 0;
  while ((1ull << shift) < d) ++shift;
  const unsigned long long power = 1ull << shift;
  return divisor{d, (unsigned)(((power - d) << 32) / d + 1), shift};
}

__device__ __forceinline__ int divide(int n, const divisor &by)
{
  return (int)((__umulhi((unsigned)n, by.multiplier) + (unsigned)n) >> by.shift);
}

/* The grid of cells, and which particles lie in them. */
struct cell_grid {
  int count[3];   /* cells along an axis, with the border */
  int border[3];  /* cells of the border on each side; a stencil reaches as far */
  int row, layer; /* cells from one row to the next, from one layer to the next */
  int total;
  double lo[3], width[3], per_width[3];
  float width_single[3];
  divisor by_row, by_layer;
  /* For mixed layouts: lo32 is the place where cells are counted from, first32 the number of the cell there
   * (border included), and in_range32 the number of cells in the whole range of the 32-bit scale. */
  uint32_t lo32[3], in_range32[3];
  int first32[3];
  bool dense; /* do cells hold so many particles that a warp search is faster? only without lists */
  /* The cell of each owned particle at the rebin, for the kernel that stages candidates; else NULL. */
  int *cell_of;
  const int *start; /* first particle of each cell, [total + 1] */
};

/* The number of cells from one layer along the slowest axis to the next. */
template <int DIM> __host__ __device__ __forceinline__ int layer_cells(const cell_grid &g)
{
  return DIM == 3 ? g.layer : g.row;
}

/* The number of the cell along axis d. A ghost may lie in the border. An owned particle is put into the nearest
 * cell that is not in the border. */
__device__ __forceinline__ int cell_along(const cell_grid &g, int d, double x, bool ghost)
{
  /* The addition of MD_ROUND rounds down to whole cells, and the lower word is their number. floor() and a
   * conversion take longer. */
  const int c = __double2loint(__fma_rd(x - g.lo[d], g.per_width[d], MD_ROUND)) + g.border[d];
  const int border = ghost ? 0 : g.border[d];
  return min(max(c, border), g.count[d] - 1 - border);
}

template <int DIM> __device__ __forceinline__ void cell_coordinates(const cell_grid &g, int cell, int c[3])
{
  c[2] = DIM == 3 ? divide(cell, g.by_layer) : 0;
  const int in_layer = DIM == 3 ? cell - c[2] * g.layer : cell;
  c[1] = divide(in_layer, g.by_row);
  c[0] = in_layer - c[1] * g.row;
}

/* The number of the cell with these coordinates. */
template <int DIM> __device__ __forceinline__ int cell_number(const cell_grid &g, const int c[3])
{
  return DIM == 3 ? c[0] + c[1] * g.row + c[2] * g.layer : c[0] + c[1] * g.row;
}

#endif
