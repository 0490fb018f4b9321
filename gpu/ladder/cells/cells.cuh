/* Cells: forces at short range. Soft disks in two dimensions, as in inputs/in.homework.
 *
 * An iteration is a whole step: find the cell of each particle, bring particles of a cell together, fill cell_start,
 * add the forces of the 3 x 3 cells around each particle, and move. A cell is as wide as the cutoff, and the grid has
 * a border of empty cells, so that no kernel asks whether a neighbour exists. The rungs show what the engine's own
 * options cannot: `make ladder-cells` and gpu/step/force_cells_2d.cu have the others. A rung calls what it keeps of the
 * rungs before it. Published on a P100; read in this order:
 *
 *   unsorted.cu          particles stay where they are
 *   sort_thrust.cu       particles are sorted by cell with Thrust
 *   fill_shared.cu       shared memory in the fill of cell_start
 *   move_shared.cu       shared memory in the move
 *   symmetric_cas.cu     each pair once, with an atomic addition built on atomicCAS
 *   symmetric_native.cu  each pair once, with the hardware's atomic addition
 *
 * Acceleration of particle i, over all j with r < CUTOFF: sum of (1 - CUTOFF / r) / r^2 / MASS (x_j - x_i). Then
 * v_i += dt a_i and x_i += dt v_i, and walls reflect.
 */
#ifndef MD_GPU_LADDER_CELLS_CELLS_CUH
#define MD_GPU_LADDER_CELLS_CELLS_CUH

#include "gpu/ladder/harness.cuh"

namespace cells
{
enum { BLOCK = 256 };

constexpr double AREA = 0.0005; /* of the box, for each particle */
constexpr double CUTOFF = 0.01, LEAST_R = CUTOFF / 100.0, MASS = 0.01, TIMESTEP = 0.0005;

struct particle {
  double x, y, vx, vy, ax, ay;
  int64_t id;
};

/* Cells of the box and a border of one cell: `row` in a row, `total` in all. */
struct grid {
  int row, total;
  double side; /* of the box */
};

struct bodies {
  int n;
  int iteration;
  grid g;
  particle *p, *p_next;        /* [n]; rungs may swap them */
  int *cell, *order;           /* [n] */
  int *count, *start, *filled; /* [total + 1] */
  void *scratch;
  size_t scratch_bytes;
};

enum { PARTICLES };

static __host__ __device__ __forceinline__ int cell_at(const grid &g, double x, double y)
{
  const int column = min((int)(x / CUTOFF), g.row - 3), row = min((int)(y / CUTOFF), g.total / g.row - 3);
  return (row + 1) * g.row + column + 1;
}

/* The factor of the distance in the pull at squared distance r2; 0 beyond the cutoff. */
static __host__ __device__ __forceinline__ double factor_at(double r2)
{
  if (r2 > CUTOFF * CUTOFF) return 0.0;
  const double safe = max(r2, LEAST_R * LEAST_R);
  return (1.0 - CUTOFF / sqrt(safe)) / safe / MASS;
}

static __host__ __device__ __forceinline__ void reflect(double side, double &x, double &v)
{
  while (x < 0.0 || x > side) {
    x = x < 0.0 ? -x : 2.0 * side - x;
    v = -v;
  }
}

/* The step's end for one particle. */
static __host__ __device__ __forceinline__ void move(const grid &g, particle &p)
{
  p.vx += TIMESTEP * p.ax;
  p.vy += TIMESTEP * p.ay;
  p.x += TIMESTEP * p.vx;
  p.y += TIMESTEP * p.vy;
  reflect(g.side, p.x, p.vx);
  reflect(g.side, p.y, p.vy);
}

/* Parts of a step, each in the file of the rung that brought it. */
void move_alone(bodies &b);     /* unsorted.cu */
void sort_particles(bodies &b); /* sort_thrust.cu */
void add_forces(bodies &b);     /* sort_thrust.cu */
void fill_starts(bodies &b);    /* fill_shared.cu */
void move_tiles(bodies &b);     /* move_shared.cu */

void set_up(bodies &b, const ladder_case *c, ladder_arrays &arrays);
void check(const bodies &b, int holds, void (*)(bodies &), const ladder_case *c, ladder_result *result);
} // namespace cells

#endif
