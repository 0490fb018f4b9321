/* The formulas of motion for one coordinate: kick, drift, reflection, kinetic energy, and the two words of a wide
 * momentum. C and CUDA.
 *
 * step.h says in which order a step applies the formulas. `v` is p/m_reference (common/model.h), or the first word of a
 * wide momentum.
 */
#ifndef MD_COMMON_STEP_MOTION_H
#define MD_COMMON_STEP_MOTION_H

#include "common/arithmetic/exact.h"
#include "common/arithmetic/real.h"

/* v plus `impulse` quanta. */
MD_FN double md_kick(double v, double impulse, double quantum) { return fma(impulse, quantum, v); }

/* Splits a wide momentum of `count` quanta into its two words. v is the nearest multiple of v_step; halves are rounded
 * away from zero, so that the momentum of opposite sign has words of opposite sign. quantum and v_step are powers of
 * two. */
MD_FN void md_momentum_split(md_int128 count, double quantum, double v_step, double *v, int64_t *low)
{
  const int bits = (int)((md_bits(v_step) - md_bits(quantum)) >> 52);
  const md_int128 half = bits > 0 ? (md_int128)1 << (bits - 1) : 0;
  const md_int128 size = count < 0 ? -count : count, steps = (size + half) >> bits;
  const int64_t rest = (int64_t)(size - steps * ((md_int128)1 << bits));
  *v = (count < 0 ? -(double)(int64_t)steps : (double)(int64_t)steps) * v_step;
  *low = count < 0 ? -rest : rest;
}

/* The least power of two >= a, for a > 0; at least 2^-1022. */
MD_FN double md_power_above(double a)
{
  const int64_t fraction = (INT64_C(1) << 52) - 1,
                bits = (md_bits(md_max(a, 0x1p-1022)) + fraction) & ~fraction;
  double power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

/* What the motion of a particle depends on: its mass, the quantum of the first word of its momentum, and its velocity
 * per p/m_reference. */
typedef struct md_inertia {
  double mass, v_step, velocity_per_v;
} md_inertia;

/* The inertia of a mass. quantum: of momenta. widest: the largest speed, if momenta are wide: 2^53 steps then cover the
 * momenta of the mass; else 0. */
MD_FN md_inertia md_inertia_of_mass(double mass, double mass_reference, double quantum, double widest)
{
  md_inertia a;
  a.mass = mass;
  a.velocity_per_v = mass_reference / mass;
  a.v_step = quantum;
  if (widest > 0.0) a.v_step = md_max(quantum, md_power_above(widest * (mass / mass_reference)) * 0x1p-53);
  return a;
}

/* The number of quanta in the two words of a wide momentum. */
MD_FN md_int128 md_momentum_count(double v, int64_t low, double quantum, double v_step)
{
  const int bits = (int)((md_bits(v_step) - md_bits(quantum)) >> 52);
  return (md_int128)md_count(v / v_step) * ((md_int128)1 << bits) + low;
}

/* 1/a, for a power of two a whose inverse is a normal number. */
MD_FN double md_power_inverse(double a)
{
  const int64_t bits = (INT64_C(2046) << 52) - md_bits(a);
  double inverse;
  memcpy(&inverse, &bits, sizeof inverse);
  return inverse;
}

/* Adds `impulse` quanta to a wide momentum. The result is that of md_momentum_split for the sum of the counts, without
 * arithmetic of 128 bits: steps of v and the rest are added apart, and a rest of half a step or more is carried. */
MD_FN void md_kick_wide_count(double *v, int64_t *low, int64_t impulse, double quantum, double v_step)
{
  const int bits = (int)((md_bits(v_step) - md_bits(quantum)) >> 52);
  const int64_t half = bits > 0 ? INT64_C(1) << (bits - 1) : 0;
  int64_t steps = md_count(*v * md_power_inverse(v_step)) + (impulse >> bits);
  int64_t rest = *low + (impulse & ((INT64_C(1) << bits) - 1));
  const int64_t carry = (rest + half) >> bits;
  steps += carry;
  rest -= carry * (INT64_C(1) << bits);
  /* Of two nearest steps the one that is farther from zero. */
  if (rest == -half && half > 0 && steps <= 0) {
    --steps;
    rest = half;
  }
  *v = (steps == 0 && rest < 0 ? -0.0 : (double)steps) * v_step;
  *low = rest;
}

/* The same for a whole number as a double. */
MD_FN void md_kick_wide(double *v, int64_t *low, double impulse, double quantum, double v_step)
{
  md_kick_wide_count(v, low, md_count(impulse), quantum, v_step);
}

/* The second word of a wide momentum after a move. If a reflection changed the sign of the first word, from `before` to
 * `after`, the sign of the second word changes too. */
MD_FN int64_t md_momentum_turned(double before, double after, int64_t low)
{
  return (before < 0.0) != (after < 0.0) ? -low : low;
}

/* The displacement of a drift. time_scale: time * velocity_per_v. rounder: MD_ROUND * grids.x; 0 leaves the product as
 * double arithmetic rounds it. */
MD_FN double md_drift(double v, double time_scale, double rounder)
{
  return fma(v, time_scale, rounder) - rounder;
}

/* Reflects a particle elastically at lo and hi, until it is between them. Either may be infinite. The mirrors stand
 * half a quantum outside of lo and hi, x -> 2 lo - q - x, so that no grid point is its own image. Otherwise a
 * particle exactly on the wall would come back from a reversed run with the wrong sign of v. */
MD_FN void md_reflect(double *x, double *v, double lo, double hi, double quantum)
{
  while (*x < lo || *x > hi) {
    *x = *x < lo ? (lo - *x) + (lo - quantum) : (hi - *x) + (hi + quantum);
    *v = -*v;
  }
}

/* Kinetic energy from v2 = |v|^2, in energy units. */
MD_FN double md_kinetic(double v2, double velocity_per_v, double mass_reference)
{
  return 0.5 * mass_reference * velocity_per_v * v2;
}

/* p/m_reference of a wide momentum as a double, rounded. */
MD_FN double md_momentum_value(double v, int64_t low, double quantum) { return fma((double)low, quantum, v); }

#endif
