/* What a pair of particles contributes, for styles whose force needs more than their distance; C and CUDA. */
#ifndef MD_COMMON_PAIR_PAIR_TERM_H
#define MD_COMMON_PAIR_PAIR_TERM_H

#include "common/arithmetic/real.h"
#include <stdbool.h>

typedef struct md_pair_term {
  double f;      /* force over distance, times the scale; 0 beyond the cutoff */
  double energy; /* of the pair alone; 0 beyond the cutoff */
  bool overlap;  /* the particles overlap, or a component of f delta is not below MD_TERM_RANGE */
} md_pair_term;

#define MD_TERM_RANGE 0x1p52

/* Of a force over distance, before the scale. delta: the vector between the particles, dim components. */
MD_FN md_pair_term md_pair_term_of(double force, double energy, const double *delta, int dim, double scale)
{
  md_pair_term p = {scale * force, energy, false};
  for (int d = 0; d < dim; ++d) p.overlap = p.overlap || !(fabs(p.f * delta[d]) < MD_TERM_RANGE);
  return p;
}

#endif
