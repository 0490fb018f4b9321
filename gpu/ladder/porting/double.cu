/* Double: double precision.
 *
 * Before (fma.cu), numbers had 24 bits; now they have 53. The hardware has fewer units for them, and an inverse
 * root of few digits only, which `rsqrt` improves by Newton's method. Operations count 30 an interaction instead
 * of 20.
 *
 * On GPUs of the publication's time: 261.1 GFLOP/s on a GTX 480, against 675.6 in single precision; 88.7 on a GTX
 * 680, against 1677.6, because it has fewer such units.
 */
#include "gpu/ladder/porting/porting.cuh"

namespace porting
{
static __constant__ parameters p;

static __global__ void k_force(fields<double> s)
{
  __shared__ double tile_m[BLOCK], tile_x[BLOCK], tile_y[BLOCK], tile_z[BLOCK];
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  const double x = s.x[i], y = s.y[i], z = s.z[i];
  double ax = 0.0, ay = 0.0, az = 0.0;
  for (int first = 0; first < p.n; first += BLOCK) {
    tile_m[threadIdx.x] = s.m[first + threadIdx.x];
    tile_x[threadIdx.x] = s.x[first + threadIdx.x];
    tile_y[threadIdx.x] = s.y[first + threadIdx.x];
    tile_z[threadIdx.x] = s.z[first + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < BLOCK; ++j) {
      const double dx = tile_x[j] - x, dy = tile_y[j] - y, dz = tile_z[j] - z;
      const double inverse = rsqrt(p.softening + dx * dx + dy * dy + dz * dz);
      const double pull = (tile_m[j] * inverse) * (inverse * inverse);
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    __syncthreads();
  }
  s.ax[i] = ax;
  s.ay[i] = ay;
  s.az[i] = az;
}

void double_precision(bodies &b)
{
  const int blocks = (b.n + BLOCK - 1) / BLOCK;
  const parameters given = {b.n, PORTING_SOFTENING};
  if (b.iteration == 0) cudaMemcpyToSymbol(p, &given, sizeof given);
  k_force<<<blocks, BLOCK>>>(b.d);
}
} // namespace porting
