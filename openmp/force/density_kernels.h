/* Pass 1 of pair styles with a density (common/pair/tables/eam.h): the densities at the particles of a chunk. kernels.c
 * includes this file once for each instruction set.
 *
 * A vector of particles of a block is done at once, by density_vectors.h. Particles for which a vector's rounding does
 * not do are done one pair at a time.
 */
#ifndef MD_OPENMP_FORCE_DENSITY_KERNELS_H
#define MD_OPENMP_FORCE_DENSITY_KERNELS_H

#include "openmp/force/density_vectors.h"
#include "openmp/force/visits.h"

MD_FN void visit_density(const visit_args *a, int64_t i, int64_t j, const double *delta, double r2, void *to)
{
  int64_t *count = to;
  (void)delta;
  const md_eam *eam = a->eam;
  *count += md_density_term(eam, eam->element[a->type[i] - 1], eam->element[a->type[j] - 1], r2);
}

static void density_chunk(const visit_args *a, int64_t first, int64_t last, const int32_t *entry,
                          const int32_t *rows, int64_t *count)
{
  for (int64_t block = first; block < last; block += BLOCK) {
    const int32_t n = rows[(block - first) / BLOCK];
    for (int l = 0; l < BLOCK && block + l < last; l += MD_SIMD_WIDTH) {
      int64_t lane[MD_SIMD_WIDTH];
      const bool done = density_lanes(a, block + l, entry + l, n, lane);
      for (int k = 0; k < MD_SIMD_WIDTH && block + l + k < last; ++k) {
        const int64_t i = block + l + k;
        count[i - first] = done ? lane[k] : 0;
        if (!done) visit_lane(a, i, entry + l + k, n, visit_density, &count[i - first]);
      }
    }
    entry += (int64_t)n * BLOCK;
  }
}

#endif
