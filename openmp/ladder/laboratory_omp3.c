/* Laboratory, omp3: one parallel region for both loops.
 *
 * What changes: the threads begin once a step. Both loops are divided within the same region, and the barrier at the
 * end of the first keeps any body from moving before all pulls are known.
 *
 * Why: beginning a region costs more than a barrier. But a step of many bodies takes much longer than both, so that
 * this brings little beyond omp2. Compare with few bodies to see it.
 *
 * Published: no figure; omp2 was called the best.
 */
#include "openmp/ladder/ladder_cpu.h"

#include <math.h>

void laboratory_omp3(cpu_bodies *b)
{
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < b->n; ++i) {
      float ax = 0.0f, ay = 0.0f, az = 0.0f;
      for (int j = 0; j < b->n; ++j) {
        const float dx = b->x[j] - b->x[i], dy = b->y[j] - b->y[i], dz = b->z[j] - b->z[i];
        const float d2 = dx * dx + dy * dy + dz * dz + LABORATORY_SOFTENING;
        const float pull = 1.0f / (d2 * sqrtf(d2));
        ax += pull * dx;
        ay += pull * dy;
        az += pull * dz;
      }
      b->ax[i] = ax;
      b->ay[i] = ay;
      b->az[i] = az;
    }
#pragma omp for
    for (int i = 0; i < b->n; ++i) {
      b->u[i] += b->dt * b->ax[i];
      b->v[i] += b->dt * b->ay[i];
      b->w[i] += b->dt * b->az[i];
      b->x[i] += b->dt * b->u[i];
      b->y[i] += b->dt * b->v[i];
      b->z[i] += b->dt * b->w[i];
    }
  }
}
