/* Fill shared: the sorted cell numbers pass through shared memory where cell_start is filled.
 *
 * What changes: k_fill needs the cell number of a particle and of the one before. A block loads its numbers once, and
 * each thread then finds both in shared memory.
 *
 * Why: two loads from global memory became one. A cache gives the same without a barrier.
 *
 * In the publication: 1.02 times as fast, together with the next rung.
 */
#include "gpu/ladder/cells/cells.cuh"

namespace cells
{
static __global__ void k_fill(const int *cell, int n, int total, int *start)
{
  __shared__ int keys[BLOCK + 1];
  const int k = blockIdx.x * BLOCK + threadIdx.x;
  keys[threadIdx.x + 1] = k < n ? cell[k] : total;
  if (threadIdx.x == 0) keys[0] = k == 0 ? -1 : cell[k - 1];
  __syncthreads();
  if (k > n) return;
  for (int c = keys[threadIdx.x] + 1; c <= keys[threadIdx.x + 1]; ++c) start[c] = k;
}

void fill_starts(bodies &b) { k_fill<<<b.n / BLOCK + 1, BLOCK>>>(b.cell, b.n, b.g.total, b.start); }

void fill_shared(bodies &b)
{
  sort_particles(b);
  fill_starts(b);
  add_forces(b);
  move_alone(b);
}
} // namespace cells
