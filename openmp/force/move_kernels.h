/* Kick and drift of the particles of a thread, and how far they are from where the list was built; kernels.c includes
 * this file once for each instruction set.
 */
#ifndef MD_OPENMP_FORCE_MOVE_KERNELS_H
#define MD_OPENMP_FORCE_MOVE_KERNELS_H

#include "openmp/force/kernels.h"
#include "openmp/force/simd.h"

static void scale(const scaling *a, int dim, double *const v[3], int64_t first, int64_t last)
{
  const double most = a->most, v_step = a->v_step;
  for (int d = 0; d < dim; ++d) {
    const double factor = a->factor[d];
    double *w = v[d] + first;
    int64_t beyond = 0;
#pragma omp simd reduction(+ : beyond)
    for (int64_t i = 0; i < last - first; ++i) {
      w[i] = md_step_scaled(w[i], 0.0, factor, v_step);
      beyond += fabs(w[i]) <= most ? 0 : 1;
    }
    for (int64_t i = 0; beyond && i < last - first; ++i) w[i] = md_step_limited(w[i], most, v_step);
  }
}

/* A vector rounds a term by adding MD_ROUND, whose bits its sum then holds once for each term. */
static bool kinetic(const kinetic_args *a, int64_t first, int64_t last, md_wide *sum)
{
  const double velocity_per_v = a->velocity_per_v, reference = a->mass_reference, per_unit = a->per_unit;
  const int64_t n = last - first;
  double v2[CHUNK] = {0.0};
  uint64_t coarse = 0, rest = 0;
  int64_t beyond = 0;
  for (int d = 0; d < a->dim; ++d) {
    const double *v = a->v[d] + first;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) v2[i] = fma(v[i], v[i], v2[i]);
  }
#pragma omp simd reduction(+ : coarse, rest, beyond)
  for (int64_t i = 0; i < n; ++i) {
    const double term = md_kinetic(v2[i], velocity_per_v, reference) * per_unit, rounded = term + MD_ROUND;
    beyond += term < MD_ROUND_RANGE ? 0 : 1;
    coarse += (uint64_t)md_bits(rounded);
    rest += (uint64_t)md_bits((term - (rounded - MD_ROUND)) * MD_FINE + MD_ROUND);
  }
  if (beyond) return false;
  const uint64_t bias = (uint64_t)n * (uint64_t)md_bits(MD_ROUND);
  md_wide_add(sum, md_fine_count((md_fine){(int64_t)(coarse - bias), (int64_t)(rest - bias)}));
  return true;
}

/* Takes the coordinates x[0..n) along axis d with the change of the box, to at[]. A particle is rarely on another image
 * than the next one. */
MD_FN void carry(const md_step *m, int d, const double *x, int64_t n, double at[CHUNK])
{
  const double lo = m->box_lo[d], hi = m->box_hi[d], length = m->length[d], scaled = m->scale[d];
  const double new_lo = m->new_lo[d], new_length = m->new_length[d], quantum = m->quantum;
  const bool carries = (m->carried[d] & MD_GROUP_ALL) != 0;
  int64_t beyond = 0;
#pragma omp simd reduction(+ : beyond)
  for (int64_t i = 0; i < n; ++i) {
    const double images = x[i] < lo ? -1.0 : x[i] >= hi ? 1.0 : 0.0, in = x[i] - images * length;
    beyond += in >= lo && in < hi ? 0 : 1;
    at[i] = fma(images, new_length, carries ? md_step_carried(in, lo, scaled, new_lo, quantum) : in);
  }
  for (int64_t i = 0; beyond && i < n; ++i) at[i] = md_step_carry(m, d, MD_GROUP_ALL, x[i]);
}

/* Adds the squares of displacements along axis d of n particles from `first` on, which are at to[]. */
MD_FN void add_distances(const move_args *a, int d, const double *to, int64_t first, int64_t n,
                         double distance2[CHUNK])
{
  const float *from = a->from[d] + first;
  const double corner = a->corner[d], scaled = a->scale[d];
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const double delta = to[i] - corner - scaled * (double)from[i];
    distance2[i] += delta * delta;
  }
}

MD_FN void take_largest(const double distance2[CHUNK], double *largest2)
{
  simd_d far2 = simd_set(*largest2);
  for (int64_t i = 0; i < CHUNK; i += MD_SIMD_WIDTH) far2 = md_max_v(simd_load(distance2 + i), far2);
  double lane[MD_SIMD_WIDTH];
  simd_store(lane, far2);
  for (int l = 0; l < MD_SIMD_WIDTH; ++l) *largest2 = md_max(*largest2, lane[l]);
}

/* Plain loops, which the compiler turns into vector code. A chunk stays in the first-level cache from axis to axis. */
static bool move(const move_args *a, const double *const *impulse, int64_t first, int64_t last,
                 double *largest2)
{
  const md_step *m = a->step;
  const double gain = a->kicks * a->quantum, limit = m->move_limit, round_x = m->round_x;
  const int64_t n = last - first;
  double distance2[CHUNK] = {0.0}, carried[CHUNK];
  bool sane = true;
  for (int d = 0; d < m->dim; ++d) {
    const double *x = a->x[d] + first;
    const double time_scale = m->stretch[d] * a->time_scale;
    double *to = a->to[d] + first, *v = a->v[d] + first;
    const double lo = m->stay_lo[d], hi = m->stay_hi[d];
    int64_t outside = 0, bad = 0;
    if (m->changes_box && m->periodic[d]) {
      carry(m, d, x, n, carried);
      x = carried;
    }
    if (impulse) {
      const double *kick = impulse[d];
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) v[i] = fma(kick[i], gain, v[i]);
    }
#pragma omp simd reduction(+ : outside, bad)
    for (int64_t i = 0; i < n; ++i) {
      const double moved = md_drift(v[i], time_scale, round_x), there = x[i] + moved;
      to[i] = there;
      bad += fabs(moved) <= limit ? 0 : 1;
      outside += there >= lo && there <= hi ? 0 : 1;
    }
    if (bad)
      sane = false;
    else if (outside)
      for (int64_t i = 0; i < n; ++i) {
        if (to[i] < m->lo[d] || to[i] > m->hi[d]) md_reflect(&to[i], &v[i], m->lo[d], m->hi[d], m->quantum);
        sane = sane && to[i] >= lo && to[i] <= hi;
      }
    add_distances(a, d, to, first, n, distance2);
  }
  take_largest(distance2, largest2);
  return sane;
}

/* One axis of a chunk in a bath: kick, half of the drift, bath, half of the drift. Returns how many particles may not
 * move like this. */
MD_FN int64_t bath_axis(const move_args *a, const bath *b, int d, const double *kick, const uint32_t *word,
                        int64_t first, int64_t n, double *to, double *w)
{
  const md_step *m = a->step;
  const double gain = a->kicks * a->quantum, limit = m->move_limit, round_x = m->round_x;
  const double time_scale = a->time_scale, lo = m->stay_lo[d], hi = m->stay_hi[d];
  const double keep = b->keep, noise = b->noise, v_step = b->v_step;
  const double *x = a->x[d] + first, *v = a->v[d] + first;
  int64_t beyond = 0;
#pragma omp simd reduction(+ : beyond)
  for (int64_t i = 0; i < n; ++i) {
    const double kicked = kick ? fma(kick[i], gain, v[i]) : v[i],
                 half = md_drift(kicked, time_scale, round_x);
    const double there = x[i] + half,
                 acted = md_langevin_component(keep, noise, word[i], kicked, 0.0, v_step);
    const double more = md_drift(acted, time_scale, round_x), end = there + more;
    beyond += fabs(half) <= limit && fabs(more) <= limit ? 0 : 1;
    beyond += there >= lo && there <= hi && end >= lo && end <= hi ? 0 : 1;
    to[i] = end;
    w[i] = acted;
  }
  return beyond;
}

/* The random words of the particles of a chunk, for each axis. */
MD_FN void random_words(const bath *b, int64_t first, int64_t n, uint32_t word[3][CHUNK])
{
  const int64_t *id = b->id + first;
  const uint64_t seed = b->seed, draw = b->draw;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const md_random r = md_random_at(seed, (uint64_t)id[i], draw, MD_STREAM_LANGEVIN);
    word[0][i] = r.word[0];
    word[1][i] = r.word[1];
    word[2][i] = r.word[2];
  }
}

static bool move_in_bath(const move_args *a, const bath *b, const double *const *impulse, int64_t first,
                         int64_t last, double *largest2)
{
  const int64_t n = last - first;
  const int dim = a->step->dim;
  uint32_t word[3][CHUNK];
  double to[3][CHUNK], v[3][CHUNK], distance2[CHUNK] = {0.0};
  random_words(b, first, n, word);
  for (int d = 0; d < dim; ++d)
    if (bath_axis(a, b, d, impulse ? impulse[d] : NULL, word[d], first, n, to[d], v[d]) > 0) return false;
  for (int d = 0; d < dim; ++d) {
    memcpy(a->to[d] + first, to[d], (size_t)n * sizeof(double));
    memcpy(a->v[d] + first, v[d], (size_t)n * sizeof(double));
    add_distances(a, d, to[d], first, n, distance2);
  }
  take_largest(distance2, largest2);
  return true;
}

#endif
