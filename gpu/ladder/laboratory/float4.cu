/* Float4: four words for a position.
 *
 * Before (tiling_v2.cu), a position had three words, which the hardware loads one by one. It loads four words that
 * are aligned in one instruction. The price is a word that nothing uses: a third more shared memory to fill.
 *
 * On the GPU of the publication: slower. The next rungs do not keep it.
 */
#include "gpu/ladder/laboratory/laboratory.cuh"

namespace laboratory
{
static __global__ void k_force(body *b, int n, float dt)
{
  __shared__ float4 tile[BLOCK];
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int first = 0; first < n; first += BLOCK) {
    tile[threadIdx.x] =
        make_float4(b[first + threadIdx.x].x, b[first + threadIdx.x].y, b[first + threadIdx.x].z, 0.0f);
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

void float4(bodies &s)
{
  const int blocks = (s.n + BLOCK - 1) / BLOCK;
  k_force<<<blocks, BLOCK>>>(s.aos, s.n, s.dt);
  k_move<<<blocks, BLOCK>>>(s.aos, s.n, s.dt);
}
} // namespace laboratory
