/* The two passes of three-body pair styles (common/pair/three_body/three_body.h), one pair at a time: the sums over the
 * legs of the particles of a chunk, and visits of pairs for visits.h. kernels.c includes this file once for each
 * instruction set.
 *
 * Trade-off: no vectors. All instances have the same code, and differ by what the compiler makes of it.
 * Cost: about 0.1 us a pair within the cutoff in both passes.
 */
#ifndef MD_OPENMP_FORCE_THREE_BODY_VISITS_H
#define MD_OPENMP_FORCE_THREE_BODY_VISITS_H

#include "common/pair/three_body/three_force.h"
#include "openmp/force/visit_lane.h"

MD_FN int three_element(const visit_args *a, int64_t i) { return a->three->element[a->type[i] - 1]; }

MD_FN void visit_leg(const visit_args *a, int64_t i, int64_t j, const double *delta, double r2, void *to)
{
  const md_three_body *three = a->three;
  md_three_add(three, three->leg + (three_element(a, i) * three->nelement + three_element(a, j)), delta, r2,
               to);
}

/* Pass 1: the sums of the particles [first, last). */
static void three_body_sums(const visit_args *a, int64_t first, int64_t last, const int32_t *entry,
                            const int32_t *rows, int64_t (*sum)[MD_THREE_SUMS])
{
  for (int64_t i = first; i < last; ++i) {
    const int64_t b = (i - first) / BLOCK;
    memset(sum[i - first], 0, sizeof *sum);
    visit_lane(a, i, entry + (i - first) % BLOCK, rows[b], visit_leg, sum[i - first]);
    if ((i - first) % BLOCK == BLOCK - 1) entry += (int64_t)rows[b] * BLOCK;
  }
}

/* Pass 2 of a pair. */
MD_FN md_vector_term vector_term_of(const visit_args *a, int64_t i, int64_t j, const double *delta, double r2)
{
  const int64_t row = (int64_t)(a->type[i] - 1) * md_model_subtypes(a->model) + (a->type[j] - 1);
  return md_three_force(a->three, a->model->pair.kind, a->k + row * MD_PAIR_K, three_element(a, i),
                        three_element(a, j), a->kept + i * MD_THREE_SUMS, a->kept + j * MD_THREE_SUMS, delta,
                        r2);
}

#endif
