/* Atomic double: each pair once, sums in double precision.
 *
 * Before (atomic_float.cu), sums had 24 bits. Now they have 53, and twice as many bytes for each atomic addition.
 * The order is still different in every run, but it shows in far smaller digits.
 *
 * This rung is not in the publication. Its GPU had no atomic addition of this type.
 */
#include "gpu/ladder/atomics/atomics.cuh"

namespace atomics
{
static __global__ void k_force(const float4 *body, int n, vectors<double> a)
{
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  const float4 own = body[i];
  const int pairs = (n - 1) / 2 + (n % 2 == 0 && i < n / 2);
  double ax = 0.0, ay = 0.0, az = 0.0;
  for (int k = 1; k <= pairs; ++k) {
    const int j = i + k < n ? i + k : i + k - n;
    const float4 other = body[j];
    const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + ATOMICS_SOFTENING);
    const float cube = inverse * inverse * inverse;
    ax += (double)(other.w * cube * dx);
    ay += (double)(other.w * cube * dy);
    az += (double)(other.w * cube * dz);
    atomicAdd(&a.x[j], (double)(-own.w * cube * dx));
    atomicAdd(&a.y[j], (double)(-own.w * cube * dy));
    atomicAdd(&a.z[j], (double)(-own.w * cube * dz));
  }
  atomicAdd(&a.x[i], ax);
  atomicAdd(&a.y[i], ay);
  atomicAdd(&a.z[i], az);
}

void atomic_double(bodies &b)
{
  const int blocks = (b.n + BLOCK - 1) / BLOCK;
  for (double *sum : {b.d.x, b.d.y, b.d.z}) cudaMemsetAsync(sum, 0, b.n * sizeof *sum);
  k_force<<<blocks, BLOCK>>>(b.body, b.n, b.d);
}
} // namespace atomics
