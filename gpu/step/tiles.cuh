/* Which tiles a block takes, for the two kernels of a step with a thermostat: the forces with sums (awaited.cu), and
 * the move after them (gpu/move/move_packed.cu, gpu/move/move_scaled.cu). A tile is one particle of each thread. Blocks
 * begin in the order of their numbers.
 *
 *   1. The first blocks of the forces take TURNS tiles each. So they begin and end seldom, and make few sums.
 *   2. All others take one tile each, so that few places of blocks are empty at the end.
 *   3. The move takes the blocks, and the tiles of a block, in the opposite order. So what the forces left in the cache
 *      last comes first.
 *
 *      place 1   |---------|---------|---------|----|----|        time ->
 *      place 2   |--------|----------|----------|---|----|
 *                  TURNS tiles each               one tile each
 *
 * With few tiles each block takes one. Trade-off: two sorts of blocks. In return the multiprocessors end together
 * (docs/history.md has measurements).
 */
#ifndef MD_GPU_STEP_TILES_CUH
#define MD_GPU_STEP_TILES_CUH

#include "gpu/particle/launch.cuh"

#include <algorithm>

struct tile_plan {
  int longs; /* blocks of TURNS tiles */
  int blocks;
};
static constexpr unsigned TURNS = 4;

/* n: the number of particles. A multiprocessor has places for 1024 threads of these kernels. */
inline tile_plan plan_tiles(const launch &l, int n)
{
  const int tiles = blocks_for(n, l.threads), places = l.processors * (1024 / l.threads);
  if (tiles <= l.most_blocks) return tile_plan{0, tiles};
  const int longs = (tiles - std::min(2 * places, tiles)) / (int)TURNS;
  return tile_plan{longs, tiles - longs * ((int)TURNS - 1)};
}

/* The first particle of this thread as one of block number `block`. */
static __device__ __forceinline__ unsigned first_in_tiles(const tile_plan &plan, unsigned block)
{
  const unsigned before = (int)block < plan.longs ? 0u : (unsigned)plan.longs * (TURNS - 1);
  return (block + before) * blockDim.x + threadIdx.x;
}

/* Calls take(i) for the particles that this thread takes, of n. */
template <class F>
static __device__ __forceinline__ void for_each_in_tiles(const tile_plan &plan, int n, F take)
{
  const bool is_long = (int)blockIdx.x < plan.longs;
  const unsigned stride = (unsigned)plan.longs * blockDim.x, step = is_long ? stride : (unsigned)n;
  const unsigned end = is_long ? min((unsigned)n, TURNS * stride) : (unsigned)n;
  for (unsigned i = first_in_tiles(plan, blockIdx.x); i < end; i += step) take((int)i);
}

/* The same in the opposite order. The lanes of a warp call take(i) together. In the warp that has the last particle i
 * may be n or more. */
template <class F>
static __device__ __forceinline__ void for_each_in_tiles_backwards(const tile_plan &plan, int n, F take)
{
  const unsigned block = gridDim.x - 1u - blockIdx.x, first = first_in_tiles(plan, block);
  for (unsigned turn = (int)block < plan.longs ? TURNS : 1u; turn-- > 0;) {
    const unsigned i = first + turn * (unsigned)plan.longs * blockDim.x;
    if ((i & ~31u) < (unsigned)n) take((int)i);
  }
}

#endif
