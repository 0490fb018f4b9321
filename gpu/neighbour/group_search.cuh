/* Lists by groups of lanes: GROUP neighbouring lanes make the list of a particle, and a block makes the lists of 32
 * particles. It is used where particles are few (rebin_few.cu).
 *
 *   1. Each lane of the group finds the ranges of some rows of cells, in those cells that are within reach of the
 *      particle. There are nine rows of particles and nine of ghosts.
 *   2. The group reads row after row, GROUP * AHEAD candidates at one time, and tests their distances.
 *   3. Each lane keeps its hits in shared memory. A prefix sum of their counts tells the places of the hits in the
 *      list.
 *
 *      candidates of a row     j     j+1   j+2   ...  j+7  | j+8 ...        GROUP = 8
 *      lane of the group       0     1     2          7    | 0
 *
 * Distances are in single precision. The reach is enlarged by what rounding may take away (list_reach()).
 *
 * Trade-off: a warp search (candidates.cuh) takes half the instructions, because it tests 32 candidates against 32
 * particles at a time. But it goes through all candidates one after the other, which takes long where there are not
 * enough particles for all multiprocessors. Cost: about 340 candidates a particle of a dense fluid, of which 80 are
 * hits.
 */
#ifndef MD_GPU_NEIGHBOUR_GROUP_SEARCH_CUH
#define MD_GPU_NEIGHBOUR_GROUP_SEARCH_CUH

#include "gpu/neighbour/candidates.cuh"

/* Hits that shared memory has room for: of a lane; and of a group that is so small that its hits are put side by side
 * before they are written, or 0. With more hits the search is made again, and writes them at once. */
template <int GROUP> constexpr int LANE_HITS = GROUP == 32 ? 11 : 24;
template <int GROUP> constexpr int GROUP_HITS = GROUP == 8 ? 128 : 0;
/* Candidates that a lane loads at one time. */
template <int GROUP> constexpr int AHEAD = GROUP == 8 ? 3 : 1;

/* What the groups of a block share. The columns after the hits make groups use different banks. */
template <int GROUP> struct group_tile {
  int of_lane[LANE_HITS<GROUP>][32 * GROUP];
  int hit[32][GROUP_HITS<GROUP> + 8];
  int rows[32];
};

/* One group: its particle, and what it has found. */
struct group_search {
  float4 at;      /* the particle, as rounded_position() gives it */
  int i, of, sub; /* its index, its number in the block, and the number of this lane in the group */
  float reach;    /* of lists, with the extra of the particle */
  int *entries;   /* the list of the particle */
  int room;       /* entries for which there is memory */
};

/* The place of entry number e of a list, from its first entry on. */
static __device__ __forceinline__ int64_t entry_at(int e) { return (int64_t)(e >> 2) * 128 + (e & 3); }

/* The range of particles, or of ghosts, in one of the nine rows around the particle. */
template <class T>
static __device__ __forceinline__ int2 range_of_group(const system_view<T> &s, const group_search &g,
                                                      const int c[3], int row, bool of_ghosts)
{
  warp_box b = {};
  b.lo[0] = b.hi[0] = g.at.x;
  b.lo[1] = b.hi[1] = g.at.y;
  b.lo[2] = b.hi[2] = g.at.z;
  b.first = b.last = c[0];
  b.y = c[1];
  b.z = c[2];
  return range_in_row<T>(s, of_ghosts ? s.ghost.start : s.grid.start, of_ghosts, b, row % 3 - 1, row / 3 - 1,
                         g.reach + s.slack.extra, 0.0f);
}

/* Calls take(j) for each hit j of this lane among the candidates [from, end). The particle itself is a hit. All lanes
 * of the warp call it; a range may be empty. half: only candidates after the particle are hits. */
template <int GROUP, class Take>
static __device__ __forceinline__ void search_range(const group_search &g, const float4 *rounded, int from,
                                                    int end, bool half, Take &&take)
{
  for (int j = from + g.sub; __any_sync(0xffffffffu, j < end); j += GROUP * AHEAD<GROUP>) {
    float4 other[AHEAD<GROUP>];
#pragma unroll
    for (int u = 0; u < AHEAD<GROUP>; ++u) other[u] = rounded[j + u * GROUP < end ? j + u * GROUP : g.i];
#pragma unroll
    for (int u = 0; u < AHEAD<GROUP>; ++u) {
      const float x = other[u].x - g.at.x, y = other[u].y - g.at.y, z = other[u].z - g.at.z;
      const float within = g.reach + other[u].w;
      if (j + u * GROUP < end && fmaf(x, x, fmaf(y, y, z * z)) <= within * within &&
          (!half || j + u * GROUP > g.i))
        take(j + u * GROUP);
    }
  }
}

/* Calls take(j) for each hit of this lane in the rows around the particle. range: those of the rows of this lane. */
template <int GROUP, int SHARE, class Take>
static __device__ __forceinline__ void search_rows(const group_search &g, const float4 *rounded,
                                                   const int2 (&range)[SHARE], int rows, bool half,
                                                   Take &&take)
{
#pragma unroll
  for (int row = 0; row < 18; ++row) {
    if (row >= rows) break;
    const int from = __shfl_sync(0xffffffffu, range[row / GROUP].x, row % GROUP, GROUP);
    const int end = __shfl_sync(0xffffffffu, range[row / GROUP].y, row % GROUP, GROUP);
    search_range<GROUP>(g, rounded, from, end, half, take);
  }
}

/* The sum of `value` in the lanes of the group before this one, and in all. */
template <int GROUP> static __device__ __forceinline__ int sum_before_in_group(int sub, int value, int &all)
{
  int sum = value;
#pragma unroll
  for (int back = 1; back < GROUP; back *= 2) {
    const int other = __shfl_sync(0xffffffffu, sum, max(sub - back, 0), GROUP);
    if (sub >= back) sum += other;
  }
  all = __shfl_sync(0xffffffffu, sum, GROUP - 1, GROUP);
  return sum - value;
}

/* Fills the list of the group up to `rows` rows. The hits are in the tile, or `direct`: already in the list. */
template <class T, int GROUP>
static __device__ __forceinline__ void write_list(const system_view<T> &s, const group_search &g, int found,
                                                  int rows, bool direct, group_tile<GROUP> &tile)
{
  for (int e = found + g.sub; e < rows * 4; e += GROUP) {
    if (direct)
      g.entries[entry_at(e)] = g.i;
    else
      tile.hit[g.of][e] = g.i;
  }
  if (direct) return;
  __syncwarp();
  for (int r = g.sub; r < rows; r += GROUP)
    *(int4 *)&g.entries[entry_at(4 * r)] = *(const int4 *)&tile.hit[g.of][4 * r];
}

/* Makes the lists of the 32 particles of block number `block`, by 32 * GROUP threads. parity: of the present positions.
 * The rounded positions are in the other array. */
template <class T, int GROUP>
static __device__ __forceinline__ void make_lists_by_groups(const system_view<T> &s, unsigned parity,
                                                            int block, float reach, group_tile<GROUP> &tile)
{
  constexpr int SHARE = (18 + GROUP - 1) / GROUP; /* rows of a lane */
  const float4 *rounded = (const float4 *)s.x[parity ^ 1u];
  const int of = threadIdx.x / GROUP, sub = threadIdx.x % GROUP, i = min(block * 32 + of, s.n - 1);
  const bool mine = block * 32 + of < s.n;
  const float4 at = rounded[i];
  const group_search g = {at,
                          i,
                          of,
                          sub,
                          reach + at.w,
                          (int *)(s.list.neighbours + (int64_t)block * s.list.stride * 32 + of),
                          s.list.stride * 4};
  int c[3];
  cell_at<T>(s, load_particle<T>(s, parity, i), c);
  const bool ghosts = mine && s.ghost.start && near_border<T::DIM>(s.grid, s.ghost, c);
  int2 range[SHARE];
#pragma unroll
  for (int m = 0; m < SHARE; ++m) {
    const int row = sub + m * GROUP;
    range[m] = make_int2(0, 0);
    if (mine && row < (ghosts ? 18 : 9)) range[m] = range_of_group(s, g, c, row % 9, row >= 9);
  }
  const int rows_around = __any_sync(0xffffffffu, ghosts) ? 18 : 9;
  int own = 0, found;
  search_rows<GROUP>(g, rounded, range, rows_around, s.list.half, [&](int j) {
    if (own < LANE_HITS<GROUP>) tile.of_lane[own][threadIdx.x] = j;
    ++own;
  });
  const int before = sum_before_in_group<GROUP>(sub, own, found);
  if (sub == 0) tile.rows[of] = (found + 3) / 4;
  const bool over =
      __syncthreads_or(own > LANE_HITS<GROUP> || (GROUP_HITS<GROUP> > 0 && found > GROUP_HITS<GROUP>));
  const bool direct = over || GROUP_HITS<GROUP> == 0;
  const int longest = warp_largest(tile.rows[threadIdx.x & 31]), rows = min(longest, s.list.stride);
  if (over) {
    int e = before;
    search_rows<GROUP>(g, rounded, range, rows_around, s.list.half, [&](int j) {
      if (e < g.room) g.entries[entry_at(e)] = j;
      ++e;
    });
  } else if (GROUP_HITS<GROUP> == 0) {
    for (int k = 0; k < own; ++k)
      if (before + k < g.room) g.entries[entry_at(before + k)] = tile.of_lane[k][threadIdx.x];
  } else {
    for (int k = 0; k < own; ++k) tile.hit[of][before + k] = tile.of_lane[k][threadIdx.x];
    __syncwarp();
  }
  write_list(s, g, found, rows, direct, tile);
  if (threadIdx.x == 0) note_rows(s, block, longest);
  __syncthreads();
}

#endif
