/* Move shared: particles pass through shared memory in the move.
 *
 * What changes: a block copies its particles into shared memory word by word, each thread moves one of them there, and
 * the block copies them back.
 *
 * Why: particles are structures of 56 bytes. A thread that reads its own structure touches words 56 bytes from those of
 * its neighbours; a block that copies words reads whole cache lines.
 *
 * In the publication: 1.02 times as fast, together with the rung before.
 */
#include "gpu/ladder/cells/cells.cuh"

namespace cells
{
static __global__ void k_move(particle *p, int n, grid g)
{
  __shared__ particle tile[BLOCK];
  const int first = blockIdx.x * BLOCK, count = min(BLOCK, n - first);
  const int words = count * (int)(sizeof(particle) / sizeof(double));
  double *from = (double *)(p + first), *here = (double *)tile;
  for (int k = threadIdx.x; k < words; k += BLOCK) here[k] = from[k];
  __syncthreads();
  if ((int)threadIdx.x < count) move(g, tile[threadIdx.x]);
  __syncthreads();
  for (int k = threadIdx.x; k < words; k += BLOCK) from[k] = here[k];
}

void move_tiles(bodies &b) { k_move<<<b.n / BLOCK + 1, BLOCK>>>(b.p, b.n, b.g); }

void move_shared(bodies &b)
{
  sort_particles(b);
  fill_starts(b);
  add_forces(b);
  move_tiles(b);
}
} // namespace cells
