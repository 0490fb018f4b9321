/* Activity, one core: the code from which everything else is judged.
 *
 * What it does: gravity between all pairs of bodies in the unit square; then the bodies move; then the map of activity
 * counts the bodies in each of 256 x 256 cells.
 *
 * Why it is slow: N^2 interactions one after the other, each with a root and a division of some ten cycles, which wait
 * for one another. One core has one such pipe.
 *
 * Published: 17 ms with 1000 bodies, 68 s with 64 000.
 */
#include "openmp/ladder/ladder_cpu.h"

#include <math.h>
#include <string.h>

static void pull_on(const cpu_bodies *b, int i)
{
  float ax = 0.0f, ay = 0.0f;
  for (int j = 0; j < b->n; ++j) {
    const float dx = b->x[j] - b->x[i], dy = b->y[j] - b->y[i];
    const float d2 = dx * dx + dy * dy + ACTIVITY_SOFTENING;
    const float pull = b->m[j] / (d2 * sqrtf(d2));
    ax += pull * dx;
    ay += pull * dy;
  }
  b->ax[i] = ax;
  b->ay[i] = ay;
}

static void count_body(const cpu_bodies *b, int i)
{
  const float x = b->x[i], y = b->y[i];
  if (x >= 0.0f && x < 1.0f && y >= 0.0f && y < 1.0f)
    ++b->map[(int)(y * MAP_CELLS) * MAP_CELLS + (int)(x * MAP_CELLS)];
}

void activity_one_core(cpu_bodies *b)
{
  for (int i = 0; i < b->n; ++i) pull_on(b, i);
  for (int i = 0; i < b->n; ++i) {
    b->u[i] += b->dt * b->ax[i];
    b->v[i] += b->dt * b->ay[i];
    b->x[i] += b->dt * b->u[i];
    b->y[i] += b->dt * b->v[i];
  }
  memset(b->map, 0, MAP_CELLS * MAP_CELLS * sizeof *b->map);
  for (int i = 0; i < b->n; ++i) count_body(b, i);
}
