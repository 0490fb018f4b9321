/* Long sums (common/arithmetic/long_sum.h) over all ranks. */
#ifndef MD_COMMON_RANKS_LONG_SUMS_H
#define MD_COMMON_RANKS_LONG_SUMS_H

#include "common/arithmetic/long_sum.h"
#include "common/ranks/reductions.h"

/* Makes of the n sums of each rank the normalised sums over all ranks, in one reduction. Collective. */
static inline MD_CHECKED md_status md_long_sums_over_ranks(md_comm *comm, md_long_sum *sum, int n)
{
  /* Of a normalised sum the number of terms is 0 on all ranks, so that it may go along with the limbs. */
  _Static_assert(sizeof *sum == (MD_LONG_LIMBS + 1) * sizeof(int64_t), "a sum is an array of whole numbers");
  for (int k = 0; k < n; ++k) md_long_normalise(&sum[k]);
  MD_TRY(comm->reduce->sum(comm, (int64_t *)sum, n * (MD_LONG_LIMBS + 1)));
  for (int k = 0; k < n; ++k) md_long_normalise(&sum[k]);
  return MD_OK;
}

#endif
