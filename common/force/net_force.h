/* The force on one particle, on which fixes act. C and CUDA.
 *
 * The same functions md_NAME_post_force serve two purposes, which differ in the unit of the force:
 *   impulses  the unit is a quantum of momenta, and every term is rounded once to a whole number
 *   (common/arithmetic/exact.h). So
 *             the terms of several fixes are added in any order to the exact sum of the pairs;
 *   output    the unit is that of forces, and terms are not rounded. The fixes then also say which force and energy
 *             they gave to the particle.
 */
#ifndef MD_COMMON_FORCE_NET_FORCE_H
#define MD_COMMON_FORCE_NET_FORCE_H

#include "common/particle.h"

typedef struct md_net_force {
  double f[3];
  double per_force;     /* units of f in a unit of force */
  bool whole;           /* f is a whole number of quanta */
  bool beyond;          /* the force of a fix is out of range, or does not exist */
  double given[3];      /* what the present fix added, in units of force */
  double energy;        /* potential energy of the particle by the present fix */
  double pull;          /* its part of the size of a force, for MD_VECTOR_SPRING */
  const double *anchor; /* the place to which a fix ties the particle, dim numbers; NULL: there is none */
  /* the force that the program around gives to it, three numbers; NULL: there is none */
  const double *external;
} md_net_force;

/* From a point to the nearest image of a coordinate x. length: of the box along a periodic axis, else 0; lo: where the
 * box begins. The same for every image of x. */
MD_FN double md_force_delta(double x, double point, double lo, double length)
{
  if (!(length > 0.0)) return x - point;
  double delta = md_wrap(x, lo, lo + length, length) - point;
  while (delta + delta > length) delta -= length;
  while (delta + delta < -length) delta += length;
  return delta;
}

/* The numbers of a box for md_force_nearest: where it begins, the lengths of periodic axes, otherwise 0, and the
 * offsets of a tilted box, otherwise 0. */
enum { MD_FORCE_BOX = 9 };

/* From a point to the nearest image of x, in any box. The same for every image of x. */
MD_FN void md_force_nearest(const double *box, const double x[3], const double *point, double delta[3])
{
  const double *lo = box, *length = box + 3, *offset = box + 6;
  double at[3] = {x[0], x[1], x[2]};
  for (int d = 2; d >= 0; --d) {
    if (!(length[d] > 0.0)) continue;
    while (at[d] < lo[d]) md_lattice_shift(length, offset, d, 1.0, at);
    while (at[d] >= lo[d] + length[d]) md_lattice_shift(length, offset, d, -1.0, at);
  }
  for (int d = 0; d < 3; ++d) delta[d] = at[d] - point[d];
  for (int d = 2; d >= 0; --d) {
    if (!(length[d] > 0.0)) continue;
    while (delta[d] + delta[d] > length[d]) md_lattice_shift(length, offset, d, -1.0, delta);
    while (delta[d] + delta[d] < -length[d]) md_lattice_shift(length, offset, d, 1.0, delta);
  }
}

/* A term of this size or larger leaves the range of impulses, as for pairs (common/model.h). */
#define MD_FORCE_RANGE 0x1p52
/* Forces for output must be smaller than this, so that what is made of them is finite. */
#define MD_FORCE_OUTPUT_RANGE 0x1p500

/* A force in the unit of n->f. */
MD_FN double md_net_force_term(md_net_force *n, double force)
{
  const double term = force * n->per_force;
  if (!(fabs(term) < (n->whole ? MD_FORCE_RANGE : MD_FORCE_OUTPUT_RANGE))) {
    n->beyond = true;
    return 0.0;
  }
  return n->whole ? rint(term) : term;
}

/* Adds a force along axis d. */
MD_FN void md_net_force_add(md_net_force *n, int d, double force)
{
  n->f[d] += md_net_force_term(n, force);
  n->given[d] += force;
}

/* Puts a force in the place of the one along axis d. */
MD_FN void md_net_force_set(md_net_force *n, int d, double force) { n->f[d] = md_net_force_term(n, force); }

/* Puts a number in the unit of n->f in the place of that along axis d. */
MD_FN void md_net_force_put(md_net_force *n, int d, double f) { n->f[d] = n->whole ? rint(f) : f; }

#endif
