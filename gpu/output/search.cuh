/* The search for the particles of an error, of which every engine must name the same: those with the smallest ids. The
 * search has three stages, and each goes through all pairs, bonds or particles:
 *   1. FIND_A: the minimum of the smaller ids, by an atomic.
 *   2. FIND_B: of the pairs with that id, the minimum of the larger ids (of a runaway: the first axis).
 *   3. FIND_REST: the thread that matches both writes the rest.
 */
#ifndef MD_GPU_OUTPUT_SEARCH_CUH
#define MD_GPU_OUTPUT_SEARCH_CUH

#include "gpu/output/launches.cuh"

enum { FIND_A, FIND_B, FIND_REST, FIND_STAGES };

static __device__ __forceinline__ unsigned long long id_of(const int64_t *id, const int *origin, int i)
{
  return (unsigned long long)id[origin ? origin[i] : i];
}

/* Takes part in a stage with a pair of particles. r2: as in md_overlap. */
static __device__ __forceinline__ void search_pair(culprit *found, int stage, unsigned long long own,
                                                   unsigned long long other, double r2)
{
  const unsigned long long low = min(own, other), high = max(own, other);
  if (stage == FIND_A)
    atomicMin(&found->a, low);
  else if (stage == FIND_B && low == found->a)
    atomicMin(&found->b, high);
  else if (stage == FIND_REST && low == found->a && high == found->b)
    found->r2 = r2;
}

#endif
