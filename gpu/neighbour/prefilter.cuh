/* Who of three rows of cells may be within the cutoff of a particle in two dimensions, by coarse positions.
 *
 * A coarse position (layout.cuh) is a position modulo eight cutoffs in 16 bits an axis, both in a word of their own array. The
 * difference of two, shifted by half a span, has the upper bits of its halves clear where the candidate lies in the
 * square of a little more than a cutoff each way: a subtraction, a test, and a bit of the result. Whether a hit is within
 * the cutoff, its whole record tells; a candidate within it is never missed, as nothing is rounded by more than the
 * square is larger (engine/setup.inc).
 *
 * A few candidates a row are looked at together, from an even one on, and of all three rows before the first is tested, so
 * that one wait serves all. Whoever is not in the row is left out at the end, all at once.
 *
 * Trade-off: 4 bytes a particle read and written, and 8 stored; a candidate costs 4 bytes and 3.5 instructions instead of 16
 * and 9 (in double). Five hits where the circle has four.
 */
#ifndef MD_GPU_NEIGHBOUR_PREFILTER_CUH
#define MD_GPU_NEIGHBOUR_PREFILTER_CUH

#include "gpu/neighbour/rows.cuh"

/* Bit k, or none if that is not in the word. */
static __device__ __forceinline__ unsigned bit_or_none(int k)
{
  return __funnelshift_lc(0u, 1u, (unsigned)k);
}

/* Rows' first even candidates. */
static __device__ __forceinline__ int even(int begin) { return begin & ~1; }

/* Of CANDIDATES candidates of each row, number `from` from the even one on the first, those that may be within the cutoff of particle
 * i: row y's are bits y CANDIDATES and up. FIRST: from is zero. own: its coarse position. */
template <int CANDIDATES, bool FIRST, class T>
static __device__ __forceinline__ unsigned
prefilter(const system_view<T> &s, const coarse_position *__restrict__ coarse, coarse_position own, int i,
          const three_rows &r, int from)
{
  static_assert(CANDIDATES <= COARSE_BEYOND, "what is looked at must lie in the array");
  const uint32_t shifted = own.xy + 0x10001u * (COARSE_SPAN / 2), apart = s.coarse.apart;
  uint2 two[3][CANDIDATES / 2];
#pragma unroll
  for (int y = 0; y < 3; ++y) {
    const int at = FIRST ? even(r.begin[y]) : min(even(r.begin[y]) + from, even(s.n));
    const uint2 *row = (const uint2 *)(coarse + at);
#pragma unroll
    for (int u = 0; u < CANDIDATES / 2; ++u) two[y][u] = __ldg(row + u);
  }
  unsigned hits = 0;
#pragma unroll
  for (int y = 0; y < 3; ++y) {
    unsigned found = 0;
#pragma unroll
    for (int u = 0; u < CANDIDATES; ++u) {
      const uint32_t other = u % 2 ? two[y][u / 2].y : two[y][u / 2].x;
      if (!((shifted - other) & apart)) found |= 1u << u;
    }
    const int at = even(r.begin[y]) + from;
    const int left = FIRST ? min(r.end[y] - at, CANDIDATES) : min(max(r.end[y] - at, 0), CANDIDATES);
    unsigned valid = ((1u << left) - 1u) & ~bit_or_none(i - at);
    if (FIRST) valid &= ~((unsigned)r.begin[y] & 1u);
    hits |= (found & valid) << (y * CANDIDATES);
  }
  return hits;
}

/* The index of the candidate that a bit of prefilter() stands for. */
template <int CANDIDATES>
static __device__ __forceinline__ int candidate(const three_rows &r, int from, int bit)
{
  return (bit < CANDIDATES       ? even(r.begin[0])
          : bit < 2 * CANDIDATES ? even(r.begin[1]) - CANDIDATES
                                 : even(r.begin[2]) - 2 * CANDIDATES) +
         from + bit;
}

#endif
