/* Pageable: bodies travel again in every iteration.
 *
 * Before (soa.cu), bodies stayed on the GPU. Here they are copied to it and back, and moved by the host, as in
 * baseline.cu: only so can the next rung show what pinned memory brings.
 *
 * This rung is not in the publication, whose rungs all copy their bodies.
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

void pageable(bodies &s)
{
  const int blocks = (s.n + BLOCK - 1) / BLOCK;
  const size_t bytes = 6 * s.padded * sizeof(float);
  cudaMemcpy(s.device.x, s.pageable.x, bytes, cudaMemcpyHostToDevice);
  k_force<<<blocks, BLOCK>>>(s.device, s.n, s.dt);
  cudaMemcpy(s.pageable.x, s.device.x, bytes, cudaMemcpyDeviceToHost);
  for (int i = 0; i < s.n; ++i) {
    s.pageable.x[i] += s.dt * s.pageable.vx[i];
    s.pageable.y[i] += s.dt * s.pageable.vy[i];
    s.pageable.z[i] += s.dt * s.pageable.vz[i];
  }
}
} // namespace laboratory
