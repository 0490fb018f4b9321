/* Symmetric, native: the same with the hardware's atomic addition.
 *
 * What changes: atomicAdd of a double instead of the loop.
 *
 * Why: the addition is done where the memory's cache is, in one operation without a result. The loop needed at least
 * two, and again for every thread that came between.
 *
 * In the publication: 1.13 times as fast.
 */
#include "gpu/ladder/cells/cells.cuh"

namespace cells
{
static __global__ void k_force(particle *p, const int *start, int n, grid g)
{
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  const double x = p[i].x, y = p[i].y;
  const int own = cell_at(g, x, y);
  double ax = 0.0, ay = 0.0;
  for (int row = own; row <= own + g.row; row += g.row)
    for (int j = row == own ? i + 1 : start[row - 1]; j < start[row + 2]; ++j) {
      const double dx = p[j].x - x, dy = p[j].y - y;
      const double factor = factor_at(dx * dx + dy * dy);
      if (factor == 0.0) continue;
      ax += factor * dx;
      ay += factor * dy;
      atomicAdd(&p[j].ax, -factor * dx);
      atomicAdd(&p[j].ay, -factor * dy);
    }
  atomicAdd(&p[i].ax, ax);
  atomicAdd(&p[i].ay, ay);
}

static __global__ void k_clear(particle *p, int n)
{
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) p[i].ax = p[i].ay = 0.0;
}

void symmetric_native(bodies &b)
{
  const int blocks = b.n / BLOCK + 1;
  sort_particles(b);
  fill_starts(b);
  k_clear<<<blocks, BLOCK>>>(b.p, b.n);
  k_force<<<blocks, BLOCK>>>(b.p, b.start, b.n, b.g);
  move_tiles(b);
}
} // namespace cells
