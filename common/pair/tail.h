/* Tail corrections (pair_modify tail yes): energy and pressure of the pairs beyond the cutoff, as if particles were
 * spread evenly there. With N_a particles of type a in the volume V, and sums over ordered pairs of types:
 *
 *      E = 1/V   sum N_a N_b 2 pi J_ab             J = integral of r^2 U(r) from rc on
 *      P = 1/V^2 sum N_a N_b 2 pi (J_ab + rc^3 U_ab(rc) / 3)
 *
 * P is -2 pi/3 times the integral of r^3 dU/dr, by parts. Both are the same for all places of the particles, so that no
 * force changes. Three dimensions only. Reference: Allen and Tildesley, Computer Simulation of Liquids, 2nd ed. (2017),
 * section 2.8. */
#ifndef MD_COMMON_PAIR_TAIL_H
#define MD_COMMON_PAIR_TAIL_H

#include "common/pair/pair.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of all pairs of a model: E V and P V^2, energy times volume. */
typedef struct md_tail {
  double energy, pressure;
} md_tail;

/* Does the style, or a sub-style, have a tail correction? */
bool md_pair_has_tail(const md_pair *pair);

/* The correction for count[t] particles of type t, from 1. For use after md_pair_complete. */
md_tail md_pair_tail(const md_pair *pair, const int64_t *count);

#ifdef __cplusplus
}
#endif
#endif
