/* Porting, one CPU thread: a cluster of stars on one core.
 *
 * What it does: every star sums the pull of all others, and then moves. The test `i == j` leaves the star itself out.
 * With softening the test is not necessary, because the star's pull on itself is zero. The GPU's rungs do not move the
 * stars, which would take a small part of the time.
 *
 * Why it is here: it is what the GPU's rungs are compared with. One GPU thread runs the same loop some tens of times
 * more slowly, because a GPU is made of many slow threads and not of one fast one.
 *
 * Published: 36.7 to 72.4 times as fast as one GPU thread, and 107.5 to 176.7 times slower than N of them.
 */
#include "openmp/ladder/ladder_cpu.h"

#include <math.h>

void porting_cpu_thread(cpu_bodies *b)
{
  for (int i = 0; i < b->n; ++i) {
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < b->n; ++j) {
      if (i == j) continue;
      const float dx = b->x[j] - b->x[i], dy = b->y[j] - b->y[i], dz = b->z[j] - b->z[i];
      const float d2 = dx * dx + dy * dy + dz * dz + PORTING_SOFTENING;
      const float pull = b->m[j] / (d2 * sqrtf(d2));
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
