/* Sort with Thrust: particles lie in memory in the order of their cells.
 *
 * What changes: thrust::sort_by_key sorts the indices of particles by cell, and the particles are copied into this
 * order. A row of three cells is then one stretch of memory. cell_start follows from the sorted cell numbers.
 *
 * Why: threads of a warp have particles of the same cells, and read the same few cache lines. The sort costs more than
 * counting, and a library has it ready.
 *
 * In the publication: 1.52 times as fast.
 */
#include "gpu/ladder/cells/cells.cuh"

#include <thrust/device_ptr.h>
#include <thrust/sort.h>

namespace cells
{
static __global__ void k_cells(const particle *p, int n, grid g, int *cell, int *order)
{
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  cell[i] = cell_at(g, p[i].x, p[i].y);
  order[i] = i;
}

static __global__ void k_gather(const particle *p, const int *order, int n, particle *sorted)
{
  const int k = blockIdx.x * BLOCK + threadIdx.x;
  if (k < n) sorted[k] = p[order[k]];
}

static __global__ void k_fill(const int *cell, int n, int total, int *start)
{
  const int k = blockIdx.x * BLOCK + threadIdx.x;
  if (k > n) return;
  for (int c = k == 0 ? 0 : cell[k - 1] + 1; c <= (k == n ? total : cell[k]); ++c) start[c] = k;
}

static __global__ void k_force(particle *p, const int *start, int n, grid g)
{
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  const double x = p[i].x, y = p[i].y;
  const int own = cell_at(g, x, y);
  double ax = 0.0, ay = 0.0;
  for (int row = own - g.row; row <= own + g.row; row += g.row)
    for (int j = start[row - 1]; j < start[row + 2]; ++j) {
      const double dx = p[j].x - x, dy = p[j].y - y;
      const double factor = factor_at(dx * dx + dy * dy);
      ax += factor * dx;
      ay += factor * dy;
    }
  p[i].ax = ax;
  p[i].ay = ay;
}

void sort_particles(bodies &b)
{
  const int blocks = b.n / BLOCK + 1;
  const thrust::device_ptr<int> cell(b.cell), order(b.order);
  k_cells<<<blocks, BLOCK>>>(b.p, b.n, b.g, b.cell, b.order);
  thrust::sort_by_key(cell, cell + b.n, order);
  k_gather<<<blocks, BLOCK>>>(b.p, b.order, b.n, b.p_next);
  std::swap(b.p, b.p_next);
}

void add_forces(bodies &b) { k_force<<<b.n / BLOCK + 1, BLOCK>>>(b.p, b.start, b.n, b.g); }
void sort_thrust(bodies &b)
{
  sort_particles(b);
  k_fill<<<b.n / BLOCK + 1, BLOCK>>>(b.cell, b.n, b.g.total, b.start);
  add_forces(b);
  move_alone(b);
}
} // namespace cells
