/* Pass 2 of three-body potentials (three_body.h), for one pair of particles; C and CUDA. */
#ifndef MD_COMMON_PAIR_THREE_BODY_THREE_FORCE_H
#define MD_COMMON_PAIR_THREE_BODY_THREE_FORCE_H

#include "common/pair/formulas.h"
#include "common/pair/pair.h"
#include "common/pair/pair_term.h"
#include "common/pair/three_body/three_body.h"

/* What a pair contributes, where its force is not along the line between the particles. */
typedef struct md_vector_term {
  double f[3];   /* the force on the first particle, times the scale */
  double energy; /* of the pair alone */
  bool overlap;  /* the particles overlap, or a component of f is not below MD_TERM_RANGE */
} md_vector_term;

/* F/r of phi, times the scale of k, and phi in *energy. */
MD_FN double md_three_phi(md_pair_kind kind, double r2, const double *k, double *energy)
{
#define MD_PAIR_THREE_BODY(symbol)                                                                           \
  if (kind == MD_PAIR_##symbol) {                                                                            \
    *energy = md_##symbol##_energy(r2, k);                                                                   \
    return md_##symbol##_force(r2, k);                                                                       \
  }
#include "common/pair/pair_styles.h"
#undef MD_PAIR_THREE_BODY
  *energy = 0.0;
  return 0.0;
}

/* The force on a particle of element a by one of element b, and phi. k: their row of coefficients, with the scale of
 * forces in k1. kept_a, kept_b: the numbers of both particles after pass 1. delta: from b to a, three components. */
MD_FN md_vector_term md_three_force(const md_three_body *three, md_pair_kind kind, const double *k, int a,
                                    int b, const double *kept_a, const double *kept_b, const double delta[3],
                                    double r2)
{
  const md_leg *of_a = three->leg + (a * three->nelement + b), *of_b = three->leg + (b * three->nelement + a);
  md_vector_term term = {
      {0.0, 0.0, 0.0}, 0.0, r2 < three->overlap2 && (k[0] > 0.0 || of_a->cut2 > 0.0 || of_b->cut2 > 0.0)};
  if (term.overlap || !(r2 < k[0] || r2 < of_a->cut2 || r2 < of_b->cut2)) return term;
  double by_a[3] = {0.0, 0.0, 0.0}, by_b[3] = {0.0, 0.0, 0.0}, n[3], back[3], phi = 0.0;
  const double inverse = md_rsqrt(r2), r = r2 * inverse;
  for (int d = 0; d < 3; ++d) {
    n[d] = delta[d] * inverse;
    back[d] = -n[d];
  }
  double g = 0.0, slope = 0.0;
  if (r2 < of_a->cut2) {
    g = md_leg_value(of_a, r, &slope);
    md_three_leg_force(g, slope, three->cosine[a], kept_a, back, inverse, by_a);
  }
  if (r2 < of_b->cut2) {
    if (of_a != of_b) g = md_leg_value(of_b, r, &slope);
    md_three_leg_force(g, slope, three->cosine[b], kept_b, n, inverse, by_b);
  }
  if (r2 < k[0]) phi = md_three_phi(kind, r2, k, &term.energy);
  for (int d = 0; d < 3; ++d) {
    term.f[d] = fma(phi, delta[d], k[1] * (by_b[d] - by_a[d]));
    term.overlap = term.overlap || !(fabs(term.f[d]) < MD_TERM_RANGE);
  }
  return term;
}

/* The virial of a pair: delta . F. */
MD_FN double md_vector_virial(const md_vector_term *term, const double *delta, int dim)
{
  double sum = 0.0;
  for (int d = 0; d < dim; ++d) sum = fma(term->f[d], delta[d], sum);
  return sum;
}

/* The impulse of a component of a force, in quanta. */
MD_FN int64_t md_vector_count(double f) { return (int64_t)rint(f); }

#endif
