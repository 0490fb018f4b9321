/* Walks through the pairs of one particle in its list, for kernels of output. The entries of a list are in ascending
 * order mostly. So where a pair of owned particles is looked at from the one with the lower index only (HALVES,
 * plane_pairs.cuh), a warp mostly skips the first half of them.
 *
 * Cost: 4 bytes for each entry, and a record for each that is looked at.
 */
#ifndef MD_GPU_NEIGHBOUR_LISTED_PAIRS_CUH
#define MD_GPU_NEIGHBOUR_LISTED_PAIRS_CUH

#include "gpu/neighbour/plane_pairs.cuh"

/* The bits of the entries four[] of the list of particle i that are looked at. */
template <class T> static __device__ __forceinline__ unsigned wanted_entries(int i, const int four[4])
{
  unsigned wanted = 0;
#pragma unroll
  for (int u = 0; u < 4; ++u)
    if (HALVES<T> ? four[u] > i : four[u] != i) wanted |= 1u << u;
  return wanted;
}

/* Calls pair(xj, twice) for the entries of the list of particle i that are looked at, within the cutoff or not. twice:
 * the pair stands for that of j with i, too. */
template <class T, class PAIR>
static __device__ __forceinline__ void
for_each_listed_pair(const system_view<T> &s, const typename T::record *__restrict__ x, int i, PAIR pair)
{
  const bool halves = HALVES<T> || s.list.half;
  const int block = i >> 5, rows = s.list.rows[block];
  const int4 *list = s.list.neighbours + (int64_t)block * s.list.stride * 32 + (i & 31);
  for (int r = 0; r < rows; ++r) {
    const int4 entries = __ldcs(list + (int64_t)r * 32);
    const int four[4] = {entries.x, entries.y, entries.z, entries.w};
    const unsigned wanted = wanted_entries<T>(i, four);
    if (wanted & 1u) pair(load_record(x + four[0]), halves && four[0] < s.n);
    if (wanted & 2u) pair(load_record(x + four[1]), halves && four[1] < s.n);
    if (wanted & 4u) pair(load_record(x + four[2]), halves && four[2] < s.n);
    if (wanted & 8u) pair(load_record(x + four[3]), halves && four[3] < s.n);
  }
}

#endif
