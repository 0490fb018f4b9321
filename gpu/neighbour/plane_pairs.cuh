/* Walks through the pairs within the cutoff in two dimensions, from cells, for kernels of output: with the prefilter
 * that steps use. Threads follow the order of the particles. While a block looks at its particles, the positions and
 * the ranges of its next ones are being loaded.
 *
 * A pair of owned particles is looked at from the particle with the lower index. In mixed precision a particle that
 * crossed a periodic face is found from one side as itself and from the other one as an image. So there all pairs are
 * looked at from both sides.
 *
 * Cost: 20 bytes a particle, 4 a cell, and a record for each candidate that the prefilter leaves.
 */
#ifndef MD_GPU_NEIGHBOUR_PLANE_PAIRS_CUH
#define MD_GPU_NEIGHBOUR_PLANE_PAIRS_CUH

#include "gpu/neighbour/for_each.cuh"
#include "gpu/neighbour/prefilter.cuh"

/* Is a pair of owned particles looked at from the particle with the lower index only? */
template <class T> constexpr bool HALVES = !T::MIXED;

/* PLANE_CANDIDATES: how many candidates of a row are tested together. Most rows have fewer, because those with a lower
 * index are left out. */
enum { PLANE_CANDIDATES = 4 };

/* Leaves out candidates with a lower index than particle i. */
template <class T> static __device__ __forceinline__ void cut_rows(three_rows &r, int i)
{
#pragma unroll
  for (int y = 0; y < 3 && HALVES<T>; ++y) {
    r.begin[y] = max(r.begin[y], i + 1);
    r.end[y] = max(r.end[y], r.begin[y]);
  }
}

/* The rows around the particle at xi; empty if it does not count. */
template <class T>
static __device__ __forceinline__ three_rows rows_at(const system_view<T> &s, const typename T::record &xi,
                                                     bool counts)
{
  return counts ? rows_around(s.grid.start, cell_of<T>(s, xi), s.grid.row) : three_rows{};
}

/* Calls pair(xi, j, xj, false) for the ghosts j around particle i. */
template <class T, class PAIR>
static __device__ __forceinline__ void for_each_ghost(const system_view<T> &s, const typename T::record *x,
                                                      const typename T::record &xi, int i, PAIR pair)
{
  int c[3];
  cell_at<T>(s, xi, c);
  if (!near_border<T::DIM>(s.grid, s.ghost, c)) return;
  const three_rows rows = ghost_rows_around(s, cell_number<T::DIM>(s.grid, c));
#pragma unroll
  for (int y = 0; y < 3; ++y)
    for (int j = rows.begin[y]; j < min(rows.end[y], s.n + s.ghost.capacity); ++j)
      if (!own_image<T>(s, i, j)) pair(xi, j, load_record(x + j), false);
}

/* All threads of all blocks call it, once.
 *
 *   counts(i)               does particle i have pairs?
 *   vote(k)                 all lanes of a warp call it together for the particles that they have, k: whether its own
 *                           one has pairs
 *   pair(xi, j, xj, twice)  a pair that may be within the cutoff. twice: it stands for that of j with i, too
 *   done()                  a thread has the pairs of one more particle
 */
template <class T, class COUNTS, class VOTE, class PAIR, class DONE>
static __device__ __forceinline__ void for_each_plane_pair(const system_view<T> &s, COUNTS counts, VOTE vote,
                                                           PAIR pair, DONE done)
{
  const unsigned parity = progress_before(s.ctl, s.launch).parity;
  const typename T::record *__restrict__ x = s.x[parity];
  const coarse_position *__restrict__ coarse = s.rest[parity];
  const unsigned n = (unsigned)s.n, step = gridDim.x * blockDim.x;
  unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
  typename T::record next = load_record(x + min(k, n - 1));
  three_rows next_rows = rows_at<T>(s, next, k < n);
  for (; (k & ~31u) < n; k += step) {
    const int i = (int)min(k, n - 1);
    const bool has_pairs = k < n && counts(i);
    const typename T::record xi = next;
    three_rows rows = has_pairs ? next_rows : three_rows{};
    cut_rows<T>(rows, i);
    const coarse_position own = T::coarse(s.scale.coarse, xi);
    unsigned hits = prefilter<PLANE_CANDIDATES, true>(s, coarse, own, i, rows, 0);
    const bool more = k + step < n;
    if (more) next = load_record(x + k + step);
    vote(has_pairs);
    int longest = 0;
#pragma unroll
    for (int y = 0; y < 3; ++y) longest = max(longest, rows.end[y] - even(rows.begin[y]));
    for (int from = 0;;) {
      for (; hits; hits &= hits - 1) {
        const int j = candidate<PLANE_CANDIDATES>(rows, from, __ffs((int)hits) - 1);
        pair(xi, j, load_record(x + j), HALVES<T>);
      }
      from += PLANE_CANDIDATES;
      if (!__any_sync(0xffffffffu, longest > from)) break;
      hits = prefilter<PLANE_CANDIDATES, false>(s, coarse, own, i, rows, from);
    }
    next_rows = rows_at<T>(s, next, more);
    if (s.ghost.start && has_pairs) for_each_ghost<T>(s, x, xi, i, pair);
    done();
  }
}

#endif
