/* Laboratory, sequential: gravity in three dimensions by two plain loops on one core.
 *
 * What it does: every body sums the pull of all others, then all velocities change, then all positions. The pull of a
 * body on itself is zero, because its distance is zero and the softening keeps the division finite. So the inner loop
 * needs no test.
 *
 * Why it is the start of the ladder: the whole method is visible, and every later rung must give the same sums.
 *
 * Published: the time by which all others are divided.
 */
#include "openmp/ladder/ladder_cpu.h"

#include <math.h>

void laboratory_sequential(cpu_bodies *b)
{
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
  for (int i = 0; i < b->n; ++i) {
    b->u[i] += b->dt * b->ax[i];
    b->v[i] += b->dt * b->ay[i];
    b->w[i] += b->dt * b->az[i];
    b->x[i] += b->dt * b->u[i];
    b->y[i] += b->dt * b->v[i];
    b->z[i] += b->dt * b->w[i];
  }
}
