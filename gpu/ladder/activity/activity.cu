/* Activity: each body finds its cell.
 *
 * Before (compute.cu), each cell asked every body. Now a thread for each body computes the cell from the position,
 * and adds 1 there. Two bodies may be in the same cell, so that the addition is an `atomicAdd`. The map has to be
 * cleared first. The work is n additions instead of 256 * 256 * n questions.
 *
 * On the GPU of the publication: 0.2 instead of 5.3 ms for 100 bodies, 190.2 instead of 215.1 ms for 64000 bodies.
 */
#include "gpu/ladder/activity/activity.cuh"

namespace activity
{
static __global__ void k_force(body *b, int n, float dt)
{
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  float ax = 0.0f, ay = 0.0f;
  for (int j = 0; j < n; ++j) {
    const float dx = b[j].x - b[i].x, dy = b[j].y - b[i].y;
    const float inverse = 1.0f / sqrtf(dx * dx + dy * dy + ACTIVITY_SOFTENING);
    const float pull = b[j].m * inverse * inverse * inverse;
    ax += pull * dx;
    ay += pull * dy;
  }
  b[i].vx += dt * ax;
  b[i].vy += dt * ay;
}

static __global__ void k_move(body *b, int n, float dt)
{
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  b[i].x += dt * b[i].vx;
  b[i].y += dt * b[i].vy;
}

static __global__ void k_map(const body *b, int n, unsigned *map)
{
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  const float x = b[i].x, y = b[i].y;
  if (x >= 0.0f && x < 1.0f && y >= 0.0f && y < 1.0f)
    atomicAdd(&map[(int)(y * MAP_CELLS) * MAP_CELLS + (int)(x * MAP_CELLS)], 1u);
}

void activity(bodies &s)
{
  const int blocks = (s.n + BLOCK - 1) / BLOCK;
  k_force<<<blocks, BLOCK>>>(s.aos, s.n, s.dt);
  k_move<<<blocks, BLOCK>>>(s.aos, s.n, s.dt);
  cudaMemsetAsync(s.map, 0, MAP_CELLS * MAP_CELLS * sizeof *s.map);
  k_map<<<blocks, BLOCK>>>(s.aos, s.n, s.map);
}
} // namespace activity
