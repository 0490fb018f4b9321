/* The prefilter: which candidates in three rows of cells may be within the cutoff of a particle in two dimensions.
 * It reads coarse positions only.
 *
 * A coarse position (gpu/particle/layout.cuh) is a position modulo eight cutoffs, with 16 bits an axis. Both axes are
 * in one word of an array of their own:
 *
 *     31  30 29             16 15  14 13              0
 *    +------+-----------------+------+-----------------+     difference of two coarse positions,
 *    | 0  0 |        y        | 0  0 |        x        |     plus half of COARSE_SPAN in x and in y
 *    +------+-----------------+------+-----------------+
 *
 * In this difference the upper two bits of both halves are clear if the candidate lies in a square around the
 * particle, of a little more than a cutoff on each side. So a candidate costs a subtraction, a test, and a bit of
 * the result. The whole record of a hit then tells whether it is within the cutoff. The prefilter never misses a
 * candidate within the cutoff, because the square is larger by more than any rounding (gpu/engine/constants.inc).
 *
 * The coarse positions of several candidates are loaded together, from an even index on. Those of all three rows
 * are loaded before the first test, so that one wait serves all. Candidates that are not in the row are removed at
 * the end, all at once.
 *
 * Trade-off: 4 bytes a particle are read and written, and 8 are stored. In return a candidate costs 4 bytes and
 * 3.5 instructions instead of 16 bytes and 9 instructions (in double). The square has five hits where the circle
 * has four.
 */
#ifndef MD_GPU_NEIGHBOUR_PREFILTER_CUH
#define MD_GPU_NEIGHBOUR_PREFILTER_CUH

#include "gpu/neighbour/rows.cuh"

/* The word with bit k set, or 0 if k is not one of 0 ... 31. */
static __device__ __forceinline__ unsigned bit_or_none(int k)
{
  return __funnelshift_lc(0u, 1u, (unsigned)k);
}

/* The even index at or before the first candidate of a row. */
static __device__ __forceinline__ int even(int begin) { return begin & ~1; }

/* Tests CANDIDATES candidates of each row, those at even(begin) + from and after. In the result, bit y CANDIDATES
 * + u is set if the u-th of them in row y may be within the cutoff of particle i. FIRST: `from` is zero. own: the
 * coarse position of i. */
template <int CANDIDATES, bool FIRST, class T>
static __device__ __forceinline__ unsigned
prefilter(const system_view<T> &s, const coarse_position *__restrict__ coarse, coarse_position own, int i,
          const three_rows &r, int from)
{
  static_assert(CANDIDATES <= COARSE_BEYOND, "what is looked at must lie in the array");
  const uint32_t shifted = own.xy + 0x10001u * (COARSE_SPAN / 2), apart = s.scale.coarse.apart;
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

/* The index of the candidate that bit number `bit` of prefilter() stands for. */
template <int CANDIDATES>
static __device__ __forceinline__ int candidate(const three_rows &r, int from, int bit)
{
  return (bit < CANDIDATES       ? even(r.begin[0])
          : bit < 2 * CANDIDATES ? even(r.begin[1]) - CANDIDATES
                                 : even(r.begin[2]) - 2 * CANDIDATES) +
         from + bit;
}

#endif
