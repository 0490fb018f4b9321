/* Laboratory, omp2: the outer loop in parallel.
 *
 * What changes: the threads divide the bodies i. The sums of a body are of one thread, so that nothing is reduced.
 *
 * Why: there are two parallel loops a step instead of N. The threads meet twice a step, and work on their own bodies in
 * between. The digits do not depend on the number of threads.
 *
 * Published: the best of the three, 29 times sequential on 64 hardware threads.
 */
#include "openmp/ladder/ladder_cpu.h"

#include <math.h>

void laboratory_omp2(cpu_bodies *b)
{
#pragma omp parallel for
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
#pragma omp parallel for
  for (int i = 0; i < b->n; ++i) {
    b->u[i] += b->dt * b->ax[i];
    b->v[i] += b->dt * b->ay[i];
    b->w[i] += b->dt * b->az[i];
    b->x[i] += b->dt * b->u[i];
    b->y[i] += b->dt * b->v[i];
    b->z[i] += b->dt * b->w[i];
  }
}
