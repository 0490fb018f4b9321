/* The loop over the partners of one particle in a full list, for pair styles whose force needs more than distances.
 * kernels.c includes this file once for each instruction set. */
#ifndef MD_OPENMP_FORCE_VISIT_LANE_H
#define MD_OPENMP_FORCE_VISIT_LANE_H

#include "openmp/force/kernels.h"

/* Called for a pair of the list. delta: from j to i, of three components, of which the third is 0 in two dimensions. */
typedef void (*pair_visit)(const visit_args *, int64_t i, int64_t j, const double *delta, double r2,
                           void *to);

/* Visits the partners of particle i, which has lane l of its block with the list `entry`. */
MD_FN void visit_lane(const visit_args *a, int64_t i, const int32_t *entry, int32_t rows, pair_visit visit,
                      void *to)
{
  const int dim = a->model->box.dim;
  for (int32_t r = 0; r < rows; ++r) {
    const int64_t j = entry[(int64_t)r * BLOCK];
    double delta[3] = {0.0, 0.0, 0.0}, r2 = 0.0;
    if (j >= a->total) continue;
    for (int d = 0; d < dim; ++d) {
      delta[d] = a->x[d][i] - a->x[d][j];
      r2 = fma(delta[d], delta[d], r2);
    }
    if (r2 < a->reach2) visit(a, i, j, delta, r2, to);
  }
}

#endif
