/* Hybrid: the CPU takes a share of the stars.
 *
 * Before (ftz.cu), the CPU only waited. Now it sums the pull on the last stars while the GPU does the rest. The
 * price is a copy of all positions to the host, where the GPU would have moved them, and a copy of accelerations
 * back. The rung is run twice: with a tenth of the stars, and with the share that measuring finds best.
 *
 * On the GPUs of the publication, a tenth was hardly worthwhile. The Makefile compiles this file with `-ftz=true`.
 */
#include "gpu/ladder/porting/porting.cuh"

namespace porting
{
static __constant__ parameters p;

static __global__ void k_force(fields<float> s)
{
  __shared__ float tile_m[BLOCK], tile_x[BLOCK], tile_y[BLOCK], tile_z[BLOCK];
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  const float x = s.x[i], y = s.y[i], z = s.z[i];
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int first = 0; first < p.n; first += BLOCK) {
    tile_m[threadIdx.x] = s.m[first + threadIdx.x];
    tile_x[threadIdx.x] = s.x[first + threadIdx.x];
    tile_y[threadIdx.x] = s.y[first + threadIdx.x];
    tile_z[threadIdx.x] = s.z[first + threadIdx.x];
    __syncthreads();
#pragma unroll 128
    for (int j = 0; j < BLOCK; ++j) {
      const float dx = tile_x[j] - x, dy = tile_y[j] - y, dz = tile_z[j] - z;
      const float inverse = rsqrtf(p.softening + dx * dx + dy * dy + dz * dz);
      const float pull = (tile_m[j] * inverse) * (inverse * inverse);
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

VECTORS static void pull_on(const fields<float> &s, int n, int i)
{
  const float *m = s.m, *x = s.x, *y = s.y, *z = s.z, xi = x[i], yi = y[i], zi = z[i];
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
#pragma omp simd reduction(+ : ax, ay, az)
  for (int j = 0; j < n; ++j) {
    const float dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
    const float inverse = 1.0f / sqrtf(PORTING_SOFTENING + dx * dx + dy * dy + dz * dz);
    const float pull = (m[j] * inverse) * (inverse * inverse);
    ax += pull * dx;
    ay += pull * dy;
    az += pull * dz;
  }
  s.ax[i] = ax;
  s.ay[i] = ay;
  s.az[i] = az;
}

void hybrid(bodies &b)
{
  const int first = b.n - b.host_stars, blocks = (first + BLOCK - 1) / BLOCK;
  const parameters given = {b.n, PORTING_SOFTENING};
  if (b.iteration == 0) cudaMemcpyToSymbol(p, &given, sizeof given);
  cudaMemcpy(b.host.x, b.f.x, 3 * b.padded * sizeof(float), cudaMemcpyDeviceToHost);
  k_force<<<blocks, BLOCK>>>(b.f);
#pragma omp parallel for schedule(dynamic, 16)
  for (int i = first; i < b.n; ++i) pull_on(b.host, b.n, i);
  for (int at = first; at < 3 * b.padded; at += b.padded)
    cudaMemcpy(b.f.ax + at, b.host.ax + at, b.host_stars * sizeof(float), cudaMemcpyHostToDevice);
}
} // namespace porting
