/* Warp search without lists, in dense three-dimensional systems: the 32 lanes of a warp go through the neighbours
 * of their particles together.
 *
 * Where 27 cells hold many candidates, a thread that tests all of its own candidates (for_each.cuh) spends its
 * time on those that are too far. Here the warp finds the neighbours (candidates.cuh), within the cutoff and at
 * the present positions, and each lane visits those of its own particle. This is the work of making a list in
 * every step, but without writing the list.
 *
 * Particles have moved since the rebin, by at most the share of the slack that is used. Particles of a warp that
 * still lie in one row of cells, or in the rows next to it, have one box. Rows are searched up to two rows from
 * that of the first particle.
 *
 * Trade-off: no memory for lists, but the search is made in every step. Cost: that of candidates.cuh, and a load
 * of a position for each hit.
 */
#ifndef MD_GPU_NEIGHBOUR_WARP_SEARCH_CUH
#define MD_GPU_NEIGHBOUR_WARP_SEARCH_CUH

#include "gpu/neighbour/candidates.cuh"

/* The layouts for which this works. Packed positions are for lists only. */
template <class T> constexpr bool CAN_BE_DENSE = T::DIM == 3 && !T::PACKED;

/* The position of r relative to `origin`, the record of a particle: the difference is exact before it is rounded. */
template <class T>
static __device__ __forceinline__ float4 relative_to(const system_view<T> &s,
                                                     const typename T::record &origin,
                                                     const typename T::record &r)
{
  float x[3];
#pragma unroll
  for (int d = 0; d < 3; ++d) x[d] = (float)T::delta(s.scale, d, r, origin);
  return make_float4(x[0], x[1], x[2], 0.0f);
}

/* A coordinate relative to the corner of the grid. */
template <class T>
static __device__ __forceinline__ float from_corner(const system_view<T> &s, int d,
                                                    const typename T::record &r)
{
  if constexpr (T::MIXED)
    return fmaf((float)(r.x[d] - s.grid.lo32[d]), s.scale.unit_single[d],
                (float)(s.grid.first32[d] - s.grid.border[d]) * s.grid.width_single[d]);
  else
    return (float)(r.x[d] - s.grid.lo[d]);
}

/* How many cells a particle may be from the first particle of its box along an axis. On 32-bit coordinates
 * everything that the box reaches must be nearer than half the range to that particle; then no particle finds both
 * a particle and its image. gpu/engine/configuration.cu makes sure that at least one cell is possible. */
template <class T> static __device__ __forceinline__ int farthest_in_box(const system_view<T> &s, int d)
{
  const int most = d == 0 ? SPAN : 1;
  return T::MIXED ? min(most, max((int)s.grid.in_range32[d] / 2 - 2, 0)) : most;
}

/* Calls pair(j, record of j) for every other particle and ghost within the cutoff of particle i at xi, and for
 * some that are beyond it. All lanes of a warp call it, and their particles must be next to each other in the
 * order of cells. A lane that is not active gets no pairs. usage: the share of the slack that is used. */
template <class T, class Pair>
static __device__ __forceinline__ void
warp_for_each(const system_view<T> &s, const typename T::record *__restrict__ x, const typename T::record &xi,
              int i, bool active, float usage, warp_tiles &tiles, Pair &&pair)
{
  const int lane = threadIdx.x & 31;
  warp_tile &tile = tile_of_warp(tiles);
  lane_search f = begin_search(i);
  const auto call_hits = [&](const warp_tile &of, lane_search &g) {
    for (; g.left > 0; g.left -= 2) {
      int j[2];
      typename T::record r[2];
#pragma unroll
      for (int u = 0; u < 2; ++u) {
        j[u] = next_hit(of, g, u);
        r[u] = load_record(x + j[u]);
      }
#pragma unroll
      for (int u = 0; u < 2; ++u)
        if (j[u] != i && !own_image<T>(s, i, j[u])) pair(j[u], r[u]);
    }
  };
  /* Coordinates relative to the corner, and edges of cells, are off by 2^-24 of the extent of the grid, or by
   * twice that. */
  float extent = 0.0f;
#pragma unroll
  for (int d = 0; d < 3; ++d) extent = fmaxf(extent, (float)s.grid.count[d] * s.grid.width_single[d]);
  const float drift = fminf(usage, 1.0f) * s.slack.most * (1.0f + 0x1p-18f);
  const search_reach h = {s.pair.cutoff, 0.0f, drift + 1e-5f * s.grid.width_single[0] + 0x1p-21f * extent};
  int c[3];
  cell_at<T>(s, xi, c);
  for (unsigned waiting = __ballot_sync(0xffffffffu, active); waiting;) {
    const int leader = __ffs((int)waiting) - 1;
    bool mine = waiting >> lane & 1u, ghosts = false;
    typename T::record origin = xi;
    float corner[3];
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      const int away = abs(c[d] - __shfl_sync(0xffffffffu, c[d], leader));
      mine = mine && away <= farthest_in_box<T>(s, d);
      origin.x[d] = __shfl_sync(0xffffffffu, xi.x[d], leader);
      corner[d] = from_corner<T>(s, d, origin);
      ghosts = ghosts || (s.ghost.depth[d] > 0 && (c[d] < 3 || c[d] >= s.grid.count[d] - 3));
    }
    waiting &= ~__ballot_sync(0xffffffffu, mine);
    const auto read = [&](int j) { return relative_to<T>(s, origin, load_record(x + j)); };
    const float4 at = relative_to<T>(s, origin, xi);
    const warp_box b = warp_box_of<3>(at, mine, c, corner);
    ghosts = __any_sync(0xffffffffu, mine && ghosts && s.ghost.start);
    find_candidates<T, 2>(s, box_search{b, h, ALL_ROWS, ghosts, false, mine, at}, tile, f, read, call_hits);
  }
  take_hits(tile, f, call_hits);
}

#endif
