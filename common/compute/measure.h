/* Stage 1 of the computes (compute.h): the terms of one particle, by the functions md_NAME_add of all styles. C and
 * CUDA. */
#ifndef MD_COMMON_COMPUTE_MEASURE_H
#define MD_COMMON_COMPUTE_MEASURE_H

#include "common/particle.h"

#define MD_COMPUTE_FORMULAS
#include "common/compute/compute_styles.h"
#undef MD_COMPUTE_FORMULAS

/* Adds the terms of a particle to a summand's fine sums, s->n of them. The particle is of the summand's group. Loops of
 * the styles over axes have `d < 3` in their condition: CUDA's compiler then knows a bound, writes out all turns, and
 * keeps particle and sums in registers. */
MD_FN void md_summand_add(const md_summand *s, const md_particle *p, md_fine *sum)
{
#define MD_COMPUTE_SUMS(symbol)                                                                              \
  if (s->kind == MD_COMPUTE_##symbol) md_##symbol##_add(s, p, sum);
#include "common/compute/compute_styles.h"
#undef MD_COMPUTE_SUMS
}

/* Adds the terms of particle i to a measure, for the summands of the model that are wanted: bit s for number s. */
static inline void md_measure_particle(const md_model *model, uint64_t wanted, const md_particles *p,
                                       int64_t i, md_measure *m)
{
  const md_particle one = md_particle_of(model, p, i);
  for (int k = 0; k < model->nsummand; ++k) {
    const md_summand *s = &model->summand[k];
    if (!(wanted >> k & 1) || !(one.group & s->group)) continue;
    md_fine sum[MD_COMPUTE_TERMS] = {{0, 0}};
    md_summand_add(s, &one, sum);
    for (int t = 0; t < s->n; ++t) md_wide_add(&m->term[s->first + t], md_fine_count(sum[t]));
  }
}

/* The value of a style with one value for each particle, in the velocity v. kind: a style whose nvalue is 0. */
MD_FN double md_compute_each(md_compute_kind kind, const md_particle *p, const double *v, int dim)
{
#define MD_COMPUTE_EACH(symbol)                                                                              \
  if (kind == MD_COMPUTE_##symbol) return md_##symbol##_of(p, v, dim);
#include "common/compute/compute_styles.h"
#undef MD_COMPUTE_EACH
  return 0.0;
}

#endif
