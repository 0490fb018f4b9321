/* Atomic int64: each pair once, sums in fixed point.
 *
 * Before (atomic_double.cu), sums were rounded, so that their bits depended on the order of additions. Sums of
 * integers are exact: every order gives the same bits, and the harness compares two iterations. A pull is rounded
 * once, to a multiple of 2^-44. atomicAdd knows unsigned integers of 64 bits; in two's complement their sum is
 * that of signed ones.
 *
 * This rung is not in the publication.
 */
#include "gpu/ladder/atomics/atomics.cuh"

namespace atomics
{
static __device__ fixed to_fixed(float a) { return (fixed)__float2ll_rn(a * FIXED_SCALE); }

static __global__ void k_force(const float4 *body, int n, vectors<fixed> a)
{
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  const float4 own = body[i];
  const int pairs = (n - 1) / 2 + (n % 2 == 0 && i < n / 2);
  fixed ax = 0, ay = 0, az = 0;
  for (int k = 1; k <= pairs; ++k) {
    const int j = i + k < n ? i + k : i + k - n;
    const float4 other = body[j];
    const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + ATOMICS_SOFTENING);
    const float cube = inverse * inverse * inverse;
    ax += to_fixed(other.w * cube * dx);
    ay += to_fixed(other.w * cube * dy);
    az += to_fixed(other.w * cube * dz);
    atomicAdd(&a.x[j], to_fixed(-own.w * cube * dx));
    atomicAdd(&a.y[j], to_fixed(-own.w * cube * dy));
    atomicAdd(&a.z[j], to_fixed(-own.w * cube * dz));
  }
  atomicAdd(&a.x[i], ax);
  atomicAdd(&a.y[i], ay);
  atomicAdd(&a.z[i], az);
}

void atomic_int64(bodies &b)
{
  const int blocks = (b.n + BLOCK - 1) / BLOCK;
  for (fixed *sum : {b.q.x, b.q.y, b.q.z}) cudaMemsetAsync(sum, 0, b.n * sizeof *sum);
  k_force<<<blocks, BLOCK>>>(b.body, b.n, b.q);
}
} // namespace atomics
