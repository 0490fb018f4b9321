/* Resident: bodies stay on the GPU.
 *
 * Before (baseline.cu), bodies went to the GPU and back in every iteration, although the host only moved them. Now
 * a kernel moves them. It is a kernel of its own, because no body may move before all threads have read it.
 *
 * This rung is not in the publication, whose rungs all copy their bodies.
 */
#include "gpu/ladder/laboratory/laboratory.cuh"

namespace laboratory
{
static __global__ void k_force(body *b, int n, float dt)
{
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int j = 0; j < n; ++j) {
    const float dx = b[j].x - b[i].x, dy = b[j].y - b[i].y, dz = b[j].z - b[i].z;
    const float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + LABORATORY_SOFTENING);
    const float pull = inverse * inverse * inverse;
    ax += pull * dx;
    ay += pull * dy;
    az += pull * dz;
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

void resident(bodies &s)
{
  const int blocks = (s.n + BLOCK - 1) / BLOCK;
  k_force<<<blocks, BLOCK>>>(s.aos, s.n, s.dt);
  k_move<<<blocks, BLOCK>>>(s.aos, s.n, s.dt);
}
} // namespace laboratory
