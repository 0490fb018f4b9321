/* Sums of checksums over ranks, modulo 2^64. Each rank adds the hashes of its own particles, so that the sums do not
 * depend on the order of particles, or on ranks. */
#ifndef MD_SRC_SUMS_CHECKSUM_H
#define MD_SRC_SUMS_CHECKSUM_H

#include "common/ranks/reductions.h"

enum { MD_CHECKSUMS = 64 };

/* Sums n checksums over ranks, n <= MD_CHECKSUMS. Halves of 32 bits are summed separately, because these sums do not
 * overflow. Collective. */
static inline md_status md_checksums_sum(md_comm *comm, int n, uint64_t *checksum)
{
  int64_t half[2 * MD_CHECKSUMS];
  for (int f = 0; f < n; ++f) {
    half[2 * f] = (int64_t)(checksum[f] >> 32);
    half[2 * f + 1] = (int64_t)(checksum[f] & UINT64_C(0xffffffff));
  }
  MD_TRY(comm->reduce->sum(comm, half, 2 * n));
  for (int f = 0; f < n; ++f) checksum[f] = ((uint64_t)half[2 * f] << 32) + (uint64_t)half[2 * f + 1];
  return MD_OK;
}

#endif
