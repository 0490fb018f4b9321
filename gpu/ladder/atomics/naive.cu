/* Naive: each pair twice.
 *
 * A thread for each body sums the pull of all bodies. The pair of i and j is computed by the thread of i and by
 * the thread of j. No thread writes what another one writes.
 *
 * On the GPU of the publication: 62 ms for 8192 bodies, 67 million interactions.
 */
#include "gpu/ladder/atomics/atomics.cuh"

namespace atomics
{
static __global__ void k_force(const float4 *body, int n, vectors<float> a)
{
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  const float4 own = body[i];
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int j = 0; j < n; ++j) {
    const float4 other = body[j];
    const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + ATOMICS_SOFTENING);
    const float cube = inverse * inverse * inverse;
    ax += other.w * cube * dx;
    ay += other.w * cube * dy;
    az += other.w * cube * dz;
  }
  a.x[i] = ax;
  a.y[i] = ay;
  a.z[i] = az;
}

void naive(bodies &b)
{
  const int blocks = (b.n + BLOCK - 1) / BLOCK;
  k_force<<<blocks, BLOCK>>>(b.body, b.n, b.f);
}
} // namespace atomics
