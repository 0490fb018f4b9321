/* Rsqrt by hardware: one instruction for the inverse root.
 *
 * Before (rsqrt.cu), the inverse root took an integer subtraction and some products. The GPU has a unit for it,
 * which serves a quarter as many lanes in a cycle as the units for products. `rsqrtf` uses it, and gives all
 * digits but the last.
 *
 * This rung is not in the publication.
 */
#include "gpu/ladder/activity/activity.cuh"

namespace activity
{
static __global__ void k_step(const float *__restrict__ x, const float *__restrict__ y,
                              const float *__restrict__ m, float *vx, float *vy, float *x_next, float *y_next,
                              int n, float dt)
{
  __shared__ float tile_x[BLOCK], tile_y[BLOCK], tile_m[BLOCK];
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  float ax = 0.0f, ay = 0.0f;
  for (int first = 0; first < n; first += BLOCK) {
    tile_x[threadIdx.x] = __ldg(&x[first + threadIdx.x]);
    tile_y[threadIdx.x] = __ldg(&y[first + threadIdx.x]);
    tile_m[threadIdx.x] = __ldg(&m[first + threadIdx.x]);
    __syncthreads();
    for (int j = 0; j < BLOCK; ++j) {
      const float dx = tile_x[j] - x[i], dy = tile_y[j] - y[i];
      const float inverse = rsqrtf(dx * dx + dy * dy + ACTIVITY_SOFTENING);
      const float pull = tile_m[j] * inverse * inverse * inverse;
      ax += pull * dx;
      ay += pull * dy;
    }
    __syncthreads();
  }
  vx[i] += dt * ax;
  vy[i] += dt * ay;
  x_next[i] = x[i] + dt * vx[i];
  y_next[i] = y[i] + dt * vy[i];
}

static __global__ void k_map(const float *x, const float *y, int n, unsigned *map)
{
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  if (x[i] >= 0.0f && x[i] < 1.0f && y[i] >= 0.0f && y[i] < 1.0f)
    atomicAdd(&map[(int)(y[i] * MAP_CELLS) * MAP_CELLS + (int)(x[i] * MAP_CELLS)], 1u);
}

void rsqrt_hardware(bodies &s)
{
  const int blocks = (s.n + BLOCK - 1) / BLOCK;
  k_step<<<blocks, BLOCK>>>(s.x, s.y, s.m, s.vx, s.vy, s.x_next, s.y_next, s.n, s.dt);
  cudaMemsetAsync(s.map, 0, MAP_CELLS * MAP_CELLS * sizeof *s.map);
  k_map<<<blocks, BLOCK>>>(s.x_next, s.y_next, s.n, s.map);
  std::swap(s.x, s.x_next);
  std::swap(s.y, s.y_next);
}
} // namespace activity
