/* SoA: arrays of fields instead of an array of structures.
 *
 * Before (powf.cu), x of one body and x of the next were 24 bytes apart. A warp that loads x of its 32 bodies
 * needs 128 bytes, and fetched 768. Now x of one body and x of the next are neighbours, in the device's memory and
 * in shared memory. The own position is read once, before the loop.
 *
 * On the GPU of the publication: faster; by how much is not said.
 */
#include "gpu/ladder/laboratory/laboratory.cuh"

namespace laboratory
{
static __global__ void k_force(fields b, int n, float dt)
{
  __shared__ float tile_x[BLOCK], tile_y[BLOCK], tile_z[BLOCK];
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  const float x = b.x[i], y = b.y[i], z = b.z[i];
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int first = 0; first < n; first += BLOCK) {
    tile_x[threadIdx.x] = b.x[first + threadIdx.x];
    tile_y[threadIdx.x] = b.y[first + threadIdx.x];
    tile_z[threadIdx.x] = b.z[first + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < BLOCK; ++j) {
      const float dx = tile_x[j] - x, dy = tile_y[j] - y, dz = tile_z[j] - z;
      const float pull = __powf(dx * dx + dy * dy + dz * dz + LABORATORY_SOFTENING, -1.5f);
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    __syncthreads();
  }
  b.vx[i] += dt * ax;
  b.vy[i] += dt * ay;
  b.vz[i] += dt * az;
}

static __global__ void k_move(fields b, int n, float dt)
{
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  b.x[i] += dt * b.vx[i];
  b.y[i] += dt * b.vy[i];
  b.z[i] += dt * b.vz[i];
}

void soa(bodies &s)
{
  const int blocks = (s.n + BLOCK - 1) / BLOCK;
  k_force<<<blocks, BLOCK>>>(s.device, s.n, s.dt);
  k_move<<<blocks, BLOCK>>>(s.device, s.n, s.dt);
}
} // namespace laboratory
