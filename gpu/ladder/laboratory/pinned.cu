/* Pinned: bodies travel from pinned memory.
 *
 * Before (pageable.cu), the host's memory was pageable: the system may move it, so that a copy goes through a
 * buffer of the driver. Pinned memory stays where it is, and the GPU copies it by itself.
 *
 * On the GPU of the publication: no gain. The next rung does not keep it, and has its bodies on the GPU.
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

void pinned(bodies &s)
{
  const int blocks = (s.n + BLOCK - 1) / BLOCK;
  const size_t bytes = 6 * s.padded * sizeof(float);
  cudaMemcpy(s.device.x, s.pinned.x, bytes, cudaMemcpyHostToDevice);
  k_force<<<blocks, BLOCK>>>(s.device, s.n, s.dt);
  cudaMemcpy(s.pinned.x, s.device.x, bytes, cudaMemcpyDeviceToHost);
  for (int i = 0; i < s.n; ++i) {
    s.pinned.x[i] += s.dt * s.pinned.vx[i];
    s.pinned.y[i] += s.dt * s.pinned.vy[i];
    s.pinned.z[i] += s.dt * s.pinned.vz[i];
  }
}
} // namespace laboratory
