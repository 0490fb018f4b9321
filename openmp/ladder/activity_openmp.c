/* Activity, OpenMP: the same sums on all cores.
 *
 * What changes: each loop over bodies is divided among threads. A body's pull is summed by one thread, so that threads
 * write to different places. In the map two threads may count in the same cell at the same time, so that the addition
 * must be atomic: it reads, adds and writes as one operation.
 *
 * Why: the interactions of different bodies do not depend on each other. Ideal is a gain of as many times as there are
 * cores; the start of three parallel loops takes some microseconds, which counts when there are few bodies.
 *
 * Published: 5.6 ms with 1000 bodies (3 times one core), 19 s with 64 000 (3.6 times).
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
  if (!(x >= 0.0f && x < 1.0f && y >= 0.0f && y < 1.0f)) return;
  unsigned *const cell = &b->map[(int)(y * MAP_CELLS) * MAP_CELLS + (int)(x * MAP_CELLS)];
#pragma omp atomic
  ++*cell;
}

void activity_openmp(cpu_bodies *b)
{
#pragma omp parallel for
  for (int i = 0; i < b->n; ++i) pull_on(b, i);
#pragma omp parallel for
  for (int i = 0; i < b->n; ++i) {
    b->u[i] += b->dt * b->ax[i];
    b->v[i] += b->dt * b->ay[i];
    b->x[i] += b->dt * b->u[i];
    b->y[i] += b->dt * b->v[i];
  }
  memset(b->map, 0, MAP_CELLS * MAP_CELLS * sizeof *b->map);
#pragma omp parallel for
  for (int i = 0; i < b->n; ++i) count_body(b, i);
}
