/* Unsorted: particles stay where they are in memory, and lists of indices give the particles of each cell.
 *
 * How it works: count the particles of each cell by atomic additions; sum the counts; then each particle takes the next
 * place of its cell. `order` names the particles, cell by cell.
 *
 * Why it is slow: the neighbours of a particle are anywhere in memory, so that each candidate costs an index and then a
 * cache line of its own.
 *
 * In the publication: the start, by which the next rung is divided.
 */
#include "gpu/ladder/cells/cells.cuh"

#include <cub/cub.cuh>

namespace cells
{
static __global__ void k_count(const particle *p, int n, grid g, int *cell, int *count)
{
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  cell[i] = cell_at(g, p[i].x, p[i].y);
  atomicAdd(&count[cell[i]], 1);
}

static __global__ void k_place(const int *cell, int n, const int *start, int *filled, int *order)
{
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) order[start[cell[i]] + atomicAdd(&filled[cell[i]], 1)] = i;
}

static __global__ void k_force(particle *p, const int *order, const int *start, int n, grid g)
{
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  const double x = p[i].x, y = p[i].y;
  const int own = cell_at(g, x, y);
  double ax = 0.0, ay = 0.0;
  for (int row = own - g.row; row <= own + g.row; row += g.row)
    for (int k = start[row - 1]; k < start[row + 2]; ++k) {
      const int j = order[k];
      const double dx = p[j].x - x, dy = p[j].y - y;
      const double factor = factor_at(dx * dx + dy * dy);
      ax += factor * dx;
      ay += factor * dy;
    }
  p[i].ax = ax;
  p[i].ay = ay;
}

static __global__ void k_move(particle *p, int n, grid g)
{
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) move(g, p[i]);
}

void move_alone(bodies &b) { k_move<<<b.n / BLOCK + 1, BLOCK>>>(b.p, b.n, b.g); }

void unsorted(bodies &b)
{
  const int blocks = b.n / BLOCK + 1;
  const size_t bytes = (size_t)(b.g.total + 1) * sizeof(int);
  cudaMemsetAsync(b.count, 0, bytes);
  cudaMemsetAsync(b.filled, 0, bytes);
  k_count<<<blocks, BLOCK>>>(b.p, b.n, b.g, b.cell, b.count);
  cub::DeviceScan::ExclusiveSum(b.scratch, b.scratch_bytes, b.count, b.start, b.g.total + 1);
  k_place<<<blocks, BLOCK>>>(b.cell, b.n, b.start, b.filled, b.order);
  k_force<<<blocks, BLOCK>>>(b.p, b.order, b.start, b.n, b.g);
  move_alone(b);
}
} // namespace cells
