/* Three rows of cells around a particle. Because x is the fastest axis, three cells of a row are one contiguous
 * range of particles. So the 3 x 3 cells of a layer are three ranges:
 *
 *    row y + 1   | cell | cell | cell |   ->  particles begin[2] ... end[2] - 1
 *    row y       | cell | here | cell |   ->            begin[1] ... end[1] - 1
 *    row y - 1   | cell | cell | cell |   ->            begin[0] ... end[0] - 1
 */
#ifndef MD_GPU_NEIGHBOUR_ROWS_CUH
#define MD_GPU_NEIGHBOUR_ROWS_CUH

#include "gpu/step/step_end.cuh"

struct three_rows {
  int begin[3], end[3];
};

/* The three rows around `cell`. row: cells from one row to the next. */
static __device__ __forceinline__ three_rows rows_around(const int *__restrict__ start, int cell, int row)
{
  three_rows r;
#pragma unroll
  for (int y = 0; y < 3; ++y) {
    const int first = cell + (y - 1) * row - 1;
    r.begin[y] = __ldg(start + first);
    r.end[y] = __ldg(start + first + 3);
  }
  return r;
}

/* The three rows of ghosts around `cell`, as indices of records. */
template <class T>
static __device__ __forceinline__ three_rows ghost_rows_around(const system_view<T> &s, int cell)
{
  three_rows r = rows_around(s.ghost.start, ghost_cell(s.ghost, cell), s.grid.row);
#pragma unroll
  for (int y = 0; y < 3; ++y) {
    r.begin[y] += s.n;
    r.end[y] += s.n;
  }
  return r;
}

/* The row that particle i is in. It need not be the middle one, because the particle may have moved since the
 * rebin. */
static __device__ __forceinline__ int row_of(const three_rows &r, int i)
{
  return i < r.begin[1] ? 0 : i < r.begin[2] ? 1 : 2;
}

/* begin[row] with constant indices, which keep the rows in registers. */
static __device__ __forceinline__ int begin_of(const three_rows &r, int row)
{
  return row == 0 ? r.begin[0] : row == 1 ? r.begin[1] : r.begin[2];
}

/* COMPARED: candidates of a row that scan_rows() compares before it evaluates hits. They are loaded in GROUPS
 * groups. The first group has four candidates, which most rows have. The others have two, because it is rare that
 * several lanes have more candidates. */
constexpr int COMPARED = 8, GROUPS = 3;

/* Adds the impulses of the candidates in three rows to those of particle i. All lanes of a warp call it together.
 * It first only compares, up to COMPARED candidates a row in ascending order, and notes in a word of bits which
 * are within the cutoff. Then it evaluates these. Few candidates are within the cutoff; if they were evaluated at
 * once, the whole warp would wait at almost every candidate. GHOSTS: the rows are rows of ghosts. least: see
 * evaluate_pair(). */
template <class T, int STYLE, bool GHOSTS>
static __device__ __forceinline__ void
scan_rows(const system_view<T> &s, const typename T::record *__restrict__ x, const typename T::record &xi,
          int i, const three_rows &r, typename T::sum sum[3], int &least)
{
  int most[3];
#pragma unroll
  for (int y = 0; y < 3; ++y) most[y] = warp_largest(r.end[y] - r.begin[y]);
  for (int from = 0; from < max(most[0], max(most[1], most[2])); from += COMPARED) {
    unsigned hits = 0;
#pragma unroll
    for (int y = 0; y < 3; ++y)
#pragma unroll
      for (int group = 0; group < GROUPS; ++group) {
        const int first = group == 0 ? 0 : 2 * group + 2;
        if (first >= most[y] - from) break;
#pragma unroll
        for (int u = first; u < 2 * group + 4; ++u) {
          if (u >= r.end[y] - r.begin[y] - from) continue;
          typename T::real delta[3];
          if (separation<T>(s.scale, xi, load_record(x + r.begin[y] + from + u), delta) < s.pair.k[0])
            hits |= 1u << (y * COMPARED + u);
        }
      }
    if constexpr (!GHOSTS) {
      const int row = row_of(r, i);
      const unsigned self = (unsigned)(i - from - begin_of(r, row));
      if (self < COMPARED) hits &= ~(1u << (row * COMPARED + self));
    }
    while (hits) {
      const int t = __ffs((int)hits) - 1, row = t / COMPARED;
      hits &= hits - 1;
      const int j = begin_of(r, row) + from + t % COMPARED;
      if constexpr (GHOSTS)
        if (own_image<T>(s, i, j)) continue;
      evaluate_pair<T, STYLE>(s, xi, load_record(x + j), true, sum, least);
    }
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) T::settle(sum[d]);
  }
}

#endif
