/* The forces of dissipative styles on one pair of particles (pair_dpd.h has the formula); C and CUDA.
 *
 * The velocities are those after the last drift, md_particles.v_pair: with velocity Verlet those of the half step, as
 * in LAMMPS. So both kicks of a step that share a position share its force, and a run that is cut goes on with the
 * same bits.
 *
 * The random number of a pair is a function of the seed, the step and the two ids, and the same for both partners:
 *   1  the words of (seed, step) are the key of the step;
 *   2  the four words of (key, smaller id, larger id) give four uniform numbers, of which z is the sum, less its mean
 *      and times sqrt 3. Mean and variance of z are 0 and 1, and it is at most 3.5. A particle feels the sum of many
 *      pairs, of which the distribution is that of normal numbers even more nearly.
 * Force and impulse change nothing but their sign if the partners change places. So the momentum of a pair is kept
 * exactly.
 *
 * Cost: ten rounds of Philox, a reciprocal root and about 30 operations a pair. Reference for uniform numbers: Duenweg
 * and Paul, Int. J. Mod. Phys. C 2 (1991) 817.
 */
#ifndef MD_COMMON_PAIR_DISSIPATIVE_DISSIPATIVE_H
#define MD_COMMON_PAIR_DISSIPATIVE_DISSIPATIVE_H

#include "common/arithmetic/rng.h"
#include "common/pair/pair.h"
#include "common/pair/pair_term.h"

/* What all pairs of a step share. noise: sqrt(kB T/dt). */
typedef struct md_dissipation {
  uint64_t key;
  double noise;
} md_dissipation;

/* What gives the dissipation of each step of a run. The temperature times boltz goes from start to stop. */
typedef struct md_dissipation_course {
  uint64_t seed;
  double start, stop, boltz, dt;
  uint64_t draw_shift;        /* of md_model_draw */
  int64_t run_begin, run_end; /* steps */
} md_dissipation_course;

/* draw: the number of steps that led to the positions (md_model_draw). energy: kB T. dt: the timestep. */
MD_FN md_dissipation md_dissipation_of(uint64_t seed, uint64_t draw, double energy, double dt)
{
  const md_random random = md_random_at(seed, 0, draw, MD_STREAM_DISSIPATION);
  md_dissipation d;
  d.key = (uint64_t)random.word[0] << 32 | random.word[1];
  d.noise = energy > 0.0 ? sqrt(energy / dt) : 0.0;
  return d;
}

MD_FN md_dissipation md_dissipation_at(const md_dissipation_course *c, int64_t step)
{
  const int64_t span = c->run_end - c->run_begin;
  const double done = span > 0 ? (double)(step - c->run_begin) / (double)span : 1.0;
  return md_dissipation_of(c->seed, (uint64_t)step + c->draw_shift,
                           c->boltz * (c->start + (c->stop - c->start) * done), c->dt);
}

/* The random number z of a pair, low and high being the smaller and the larger id. The sum of the words is less than
 * 2^34, and exact. */
MD_FN double md_dissipation_number(uint64_t key, uint64_t low, uint64_t high)
{
  const md_random r = md_random_at(key, low, high, 0);
  const int64_t sum = (int64_t)r.word[0] + r.word[1] + r.word[2] + r.word[3];
  return (double)(sum - (((int64_t)1 << 33) - 2)) * (0x1.bb67ae8584caap+0 * 0x1p-32);
}

/* The force over the distance, for r2 < k0. along: delta times the relative velocity. noise: k6 sqrt(kB T/dt) z. w:
 * receives 1 - r/rc. */
MD_FN double md_dissipative_over_r(const double *k, double r2, double along, double noise, double *w)
{
  const double inverse = md_rsqrt(md_max(r2, k[3]));
  *w = 1.0 - k[2] * r2 * inverse;
  return (k[1] + noise - k[5] * *w * (along * inverse)) * *w * inverse;
}

/* The force on a by b, over the distance and times the scale of k, and the energy of the pair. a and b: ids. delta, u:
 * place and velocity of a relative to b. overlap: the impulse is out of range. */
MD_FN md_pair_term md_dissipative_force(const md_dissipation *d, const double *k, int64_t a, int64_t b,
                                        const double *delta, const double *u, int dim, double r2)
{
  const md_pair_term none = {0.0, 0.0, false};
  if (!(r2 < k[0])) return none;
  double along = 0.0, noise = 0.0, w;
  for (int c = 0; c < dim; ++c) along = fma(delta[c], u[c], along);
  if (d->noise > 0.0)
    noise =
        k[6] * d->noise * md_dissipation_number(d->key, (uint64_t)(a < b ? a : b), (uint64_t)(a < b ? b : a));
  const double force = md_dissipative_over_r(k, r2, along, noise, &w);
  return md_pair_term_of(force, k[4] * (w * w), delta, dim, 1.0);
}

#endif
