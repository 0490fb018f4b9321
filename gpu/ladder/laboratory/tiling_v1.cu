/* Tiling, version 1: tiles of bodies in shared memory.
 *
 * Before (resident.cu), each thread fetched every body from the device's memory or a cache. Now the 512 threads of
 * a block fetch 512 bodies together, each thread one of them, and all threads read this tile from shared memory.
 * Velocities come along, although the sum does not use them. The first __syncthreads() waits until the tile is
 * complete, the second one until all threads have used it. The last tile and the last block are filled up with
 * bodies that are too far away to pull, so that no thread may return early.
 *
 * On the GPU of the publication: 1.2 times faster.
 */
#include "gpu/ladder/laboratory/laboratory.cuh"

namespace laboratory
{
static __global__ void k_force(body *b, int n, float dt)
{
  __shared__ body tile[BLOCK];
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int first = 0; first < n; first += BLOCK) {
    tile[threadIdx.x] = b[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < BLOCK; ++j) {
      const float dx = tile[j].x - b[i].x, dy = tile[j].y - b[i].y, dz = tile[j].z - b[i].z;
      const float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + LABORATORY_SOFTENING);
      const float pull = inverse * inverse * inverse;
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    __syncthreads();
  }
  b[i].vx += dt * ax;
  b[i].vy += dt * ay;
  b[i].vz += dt * az;
}

static __global__ void k_move(body *b, int n, float dt)
{
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  b[i].x += dt * b[i].vx;
  b[i].y += dt * b[i].vy;
  b[i].z += dt * b[i].vz;
}

void tiling_v1(bodies &s)
{
  const int blocks = (s.n + BLOCK - 1) / BLOCK;
  k_force<<<blocks, BLOCK>>>(s.aos, s.n, s.dt);
  k_move<<<blocks, BLOCK>>>(s.aos, s.n, s.dt);
}
} // namespace laboratory
