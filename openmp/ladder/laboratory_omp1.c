/* Laboratory, omp1: the inner loop in parallel.
 *
 * What changes: the threads divide the bodies j that pull on one body i. Each sums its part, and the reduction adds the
 * parts up.
 *
 * Why: the loop with the work is the inner one, and one line makes it parallel. But a parallel loop begins and ends for
 * every body, N times a step. Each beginning and each end costs microseconds, and a body's sum takes not much more when
 * many threads share it. The order of the sum depends on the number of threads, and so do the last digits.
 *
 * Published: 9.5 times sequential, on 64 hardware threads.
 */
#include "openmp/ladder/ladder_cpu.h"

#include <math.h>

void laboratory_omp1(cpu_bodies *b)
{
  for (int i = 0; i < b->n; ++i) {
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
#pragma omp parallel for reduction(+ : ax, ay, az)
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
  for (int i = 0; i < b->n; ++i) {
    b->u[i] += b->dt * b->ax[i];
    b->v[i] += b->dt * b->ay[i];
    b->w[i] += b->dt * b->az[i];
    b->x[i] += b->dt * b->u[i];
    b->y[i] += b->dt * b->v[i];
    b->z[i] += b->dt * b->w[i];
  }
}
