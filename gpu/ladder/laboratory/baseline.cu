/* Baseline: a thread for each body.
 *
 * Bodies lie in the host's memory. An iteration copies them to the GPU, where a thread for each body sums the pull
 * of all bodies and changes the velocity. Then it copies them back, and the host moves them.
 *
 * On the GPU of the publication: about as fast as 64 threads of its host.
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

void baseline(bodies &s)
{
  const int blocks = (s.n + BLOCK - 1) / BLOCK;
  cudaMemcpy(s.aos, s.host, s.n * sizeof(body), cudaMemcpyHostToDevice);
  k_force<<<blocks, BLOCK>>>(s.aos, s.n, s.dt);
  cudaMemcpy(s.host, s.aos, s.n * sizeof(body), cudaMemcpyDeviceToHost);
  for (int i = 0; i < s.n; ++i) {
    s.host[i].x += s.dt * s.host[i].vx;
    s.host[i].y += s.dt * s.host[i].vy;
    s.host[i].z += s.dt * s.host[i].vz;
  }
}
} // namespace laboratory
