/* Long sums (common/arithmetic/long_sum.h) over all ranks. */
#ifndef MD_COMMON_RANKS_LONG_SUMS_H
#define MD_COMMON_RANKS_LONG_SUMS_H

#include "common/arithmetic/long_sum.h"
#include "common/ranks/reductions.h"

/* Makes of the n sums of each rank the normalised sums over all ranks. Collective. */
static inline MD_CHECKED md_status md_long_sums_over_ranks(md_comm *comm, md_long_sum *sum, int n)
{
  for (int k = 0; k < n; ++k) {
    md_long_normalise(&sum[k]);
    MD_TRY(comm->reduce->sum(comm, sum[k].limb, MD_LONG_LIMBS));
    md_long_normalise(&sum[k]);
  }
  return MD_OK;
}

#endif
