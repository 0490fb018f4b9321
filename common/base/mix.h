/* The finaliser of SplitMix64 (Steele, Lea and Flood 2014), for hashes and checksums: every bit of the result depends
 * on every bit of z. */
#ifndef MD_COMMON_BASE_MIX_H
#define MD_COMMON_BASE_MIX_H

#include <stdint.h>

#ifdef __CUDACC__
__host__ __device__
#endif
    static inline uint64_t
    md_mix(uint64_t z)
{
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

#endif
