/* Bodies and oracle of the ladder.
 *
 * Positions come from random numbers by sums, products, quotients and roots only, which every machine rounds the same
 * way. The oracle is the plain sum in double precision, from the positions as the rungs see them, in single precision.
 *
 * Cost: n operations for the bodies; 512 n interactions for the oracle, in parallel.
 */
#include "common/ladder/bodies.h"

#include "common/arithmetic/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEED = 2024 };

void *ladder_allocate(int64_t count, int64_t size)
{
  void *at = calloc((size_t)count, (size_t)size);
  if (at == NULL) {
    fprintf(stderr, "ladder: no memory for %.0f bytes\n", (double)count * (double)size);
    exit(1);
  }
  return at;
}

/* A place in Plummer's cluster. The share of mass within r is s^3 with s = r / sqrt(1 + r^2), and the largest of three
 * uniform numbers is distributed like s. The direction is Marsaglia's: a point in the unit circle, on the sphere. */
static void place_in_cluster(int id, double place[3])
{
  for (uint64_t trial = 0;; ++trial) {
    const md_random r = md_random_at(SEED, (uint64_t)id, 2 * trial, MD_STREAM_POSITION);
    const md_random t = md_random_at(SEED, (uint64_t)id, 2 * trial + 1, MD_STREAM_POSITION);
    const double s =
        fmax(fmax(md_random_unit(r.word[0]), md_random_unit(r.word[1])), md_random_unit(r.word[2]));
    const double a = 2.0 * md_random_unit(t.word[0]) - 1.0, b = 2.0 * md_random_unit(t.word[1]) - 1.0;
    const double q = a * a + b * b, radius = s / sqrt(1.0 - s * s);
    if (q >= 1.0 || radius > 10.0) continue;
    place[0] = radius * 2.0 * a * sqrt(1.0 - q);
    place[1] = radius * 2.0 * b * sqrt(1.0 - q);
    place[2] = radius * (1.0 - 2.0 * q);
    return;
  }
}

static void place_body(ladder_case *c, int id)
{
  const md_random r = md_random_at(SEED, (uint64_t)id, 0, MD_STREAM_SITE);
  double place[3] = {md_random_unit(r.word[0]), md_random_unit(r.word[1]), md_random_unit(r.word[2])};
  if (c->study->shape == SHAPE_SQUARE || c->study->shape == SHAPE_DISKS) place[2] = 0.0;
  if (c->study->shape == SHAPE_PLUMMER) place_in_cluster(id, place);
  c->x[id] = (float)place[0];
  c->y[id] = (float)place[1];
  c->z[id] = (float)place[2];
  c->m[id] = c->study->equal_masses ? 1.0f : (float)((0.5 + md_random_unit(r.word[3])) / c->n);
}

static void ask_oracle(ladder_case *c, int k)
{
  const int i = c->sample[k];
  double sum[3] = {0.0, 0.0, 0.0}, lengths = 0.0;
  for (int j = 0; j < c->n; ++j) {
    const double dx = (double)c->x[j] - (double)c->x[i];
    const double dy = (double)c->y[j] - (double)c->y[i];
    const double dz = (double)c->z[j] - (double)c->z[i];
    const double r2 = dx * dx + dy * dy + dz * dz, d2 = r2 + (double)c->study->softening;
    const double pull = (double)c->m[j] / (d2 * sqrt(d2));
    sum[0] += pull * dx;
    sum[1] += pull * dy;
    sum[2] += pull * dz;
    lengths += pull * sqrt(r2);
  }
  for (int d = 0; d < 3; ++d) c->acceleration[k][d] = sum[d];
  c->scale[k] = lengths;
}

ladder_case *ladder_make_case(const ladder_study *study, int n)
{
  ladder_case *c = ladder_allocate(1, sizeof *c);
  c->study = study;
  c->n = n;
  c->x = ladder_allocate(n, sizeof *c->x);
  c->y = ladder_allocate(n, sizeof *c->y);
  c->z = ladder_allocate(n, sizeof *c->z);
  c->m = ladder_allocate(n, sizeof *c->m);
  c->dt = (float)(0x1p-10 / (study->equal_masses ? sqrt((double)n) : 1.0));
  c->samples = study->shape == SHAPE_DISKS ? 0 : n < LADDER_SAMPLES ? n : LADDER_SAMPLES;
  c->sample = ladder_allocate(c->samples + 1, sizeof *c->sample);
  c->acceleration = ladder_allocate(c->samples + 1, sizeof *c->acceleration);
  c->scale = ladder_allocate(c->samples + 1, sizeof *c->scale);
  for (int id = 0; id < n; ++id) place_body(c, id);
  for (int k = 0; k < c->samples; ++k)
    c->sample[k] = c->samples > 1 ? (int)((int64_t)k * (n - 1) / (c->samples - 1)) : 0;
#pragma omp parallel for
  for (int k = 0; k < c->samples; ++k) ask_oracle(c, k);
  return c;
}

void ladder_free_case(ladder_case *c)
{
  free(c->x);
  free(c->y);
  free(c->z);
  free(c->m);
  free(c->sample);
  free(c->acceleration);
  free(c->scale);
  free(c);
}

double ladder_error(const ladder_case *c, const double *ax, const double *ay, const double *az)
{
  double largest = 0.0;
  for (int k = 0; k < c->samples; ++k) {
    const int i = c->sample[k];
    const double dx = ax[i] - c->acceleration[k][0], dy = ay[i] - c->acceleration[k][1];
    const double dz = az != NULL ? az[i] - c->acceleration[k][2] : 0.0;
    const double error = sqrt(dx * dx + dy * dy + dz * dz) / c->scale[k];
    if (!isfinite(error)) return (double)INFINITY;
    largest = fmax(largest, error);
  }
  return largest;
}

/* The sum is rounded once to single precision, by at most 2^-24 of itself; the product before it hardly counts. */
static bool moved_along(const ladder_case *c, const float *from, const float *to, const float *velocity)
{
  for (int i = 0; i < c->n; ++i) {
    const double there = (double)from[i] + (double)c->dt * (double)velocity[i];
    if (!(fabs((double)to[i] - there) <= 0x1p-23 * fmax(fabs(there), 1e-3))) return false;
  }
  return true;
}

bool ladder_moved(const ladder_case *c, const float *x, const float *y, const float *z, const float *u,
                  const float *v, const float *w)
{
  return moved_along(c, c->x, x, u) && moved_along(c, c->y, y, v) &&
         (z == NULL || moved_along(c, c->z, z, w));
}

bool ladder_mapped(const ladder_case *c, const float *x, const float *y, const unsigned *map)
{
  enum { CELLS = MAP_CELLS * MAP_CELLS };
  unsigned *counted = ladder_allocate(CELLS, sizeof *counted);
  for (int i = 0; i < c->n; ++i)
    if (x[i] >= 0.0f && x[i] < 1.0f && y[i] >= 0.0f && y[i] < 1.0f)
      ++counted[(int)(y[i] * MAP_CELLS) * MAP_CELLS + (int)(x[i] * MAP_CELLS)];
  bool same = true;
  for (int cell = 0; cell < CELLS; ++cell) same = same && counted[cell] == map[cell];
  free(counted);
  return same;
}
