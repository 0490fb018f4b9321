/* Lists: for each particle all particles and ghosts within cutoff + skin (`reach`), and within more for a fast
 * one.
 *
 *   1. k_round copies all positions in single precision into the idle position array.
 *   2. k_list: a warp makes the lists of its 32 particles with a warp search (candidates.cuh). All lanes write at
 *      the same time, a row of four neighbours each. So the lists of 32 particles are interleaved by rows, and the
 *      warp writes whole cache lines. Rows of cells are as wide as the radius of a list.
 *      k_list_shared: the same by several warps for 32 particles, where particles are few. (On one rank they are
 *      mostly the work of rebin_few.cu then.)
 *
 * The list of a particle with extra e (sort.cu) holds all neighbours within reach + e, plus the extra e' of the
 * neighbour. The test uses (reach + e + e')^2 <= reach^2 + t(e) + t(e'), with t(e) = 2 reach e + 2 e^2.
 *
 * Trade-off: full lists need neither atomics nor force arrays, but they take twice the memory of half lists.
 * Memory: 16 bytes a row of four neighbours; each particle has the rows of the longest list, and the array grows
 * when a list does not fit. Cost: that of candidates.cuh, and 10 operations a neighbour.
 */
#include "gpu/neighbour/candidates.cuh"
#include "gpu/neighbour/launches.cuh"
#include "gpu/particle/images.cuh"

/* Positions relative to the corner of the grid, and extras. */
template <class T> static __global__ void k_round(const __grid_constant__ system_view<T> s, rounded_part part)
{
  await_launches();
  float4 *rounded = (float4 *)s.x[progress_before(s.ctl, s.launch).parity ^ 1u];
  const int i = blockIdx.x * blockDim.x + threadIdx.x + (part == ROUNDS_GHOSTS ? s.n : 0);
  int end = s.n;
  if (s.ghost.start && part != ROUNDS_OWN) end += min(s.ghost.start[s.grid.total], s.ghost.capacity);
  if (i >= end) return;
  /* The coordinate of such a ghost is that of its source (mixed), is known only modulo 2^42 quanta (packed), or
   * comes from another rank: so it is computed from its source. */
  const bool is_ghost = i >= s.n && (T::MIXED || T::PACKED || s.ghost.received);
  const typename T::particle r = is_ghost && s.ghost.received
                                     ? s.ghost.received[s.ghost.order[i - s.n]]
                                     : present_particle<T>(s, is_ghost ? s.ghost.source[i - s.n] : i);
  rounded[i] = rounded_position<T>(s, r, is_ghost ? s.ghost.shift[i - s.n] : NO_SHIFT);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int LIST_BLOCKS = 8; /* a multiprocessor holds 1024 threads */
#else
constexpr int LIST_BLOCKS = 9;
#endif

/* The particles of a warp, in a list kernel. */
template <class T> struct listing {
  const float4 *rounded;
  int i, here; /* here: the last particle, where there is no particle i */
  int4 *list;  /* the first row of this lane */
  search_reach reach;
};

template <class T>
static __device__ __forceinline__ listing<T> listing_of(const system_view<T> &s, int block, float reach)
{
  const int lane = threadIdx.x & 31, i = block * 32 + lane;
  return listing<T>{(const float4 *)s.x[progress_before(s.ctl, s.launch).parity ^ 1u], i, min(i, s.n - 1),
                    s.list.neighbours + (int64_t)block * s.list.stride * 32 + lane,
                    search_reach{reach, s.slack.extra, 0.0f}};
}

/* Finds the neighbours of the 32 particles. share: the rows of box_search. take: of find_candidates(). */
template <class T, class Take>
static __device__ __forceinline__ void search(const system_view<T> &s, const listing<T> &l, unsigned share,
                                              warp_tile &tile, lane_search &f, Take &&take)
{
  const int lane = threadIdx.x & 31;
  const float4 *__restrict__ rounded = l.rounded;
  const auto read = [&](int j) { return rounded[j]; };
  const float corner[3] = {0.0f, 0.0f, 0.0f};
  const float4 at = rounded[l.here];
  int c[3];
  cell_coordinates<T::DIM>(s.grid, cell_of<T>(s, present_particle<T>(s, l.here)), c);
  for (unsigned waiting = __ballot_sync(0xffffffffu, l.i < s.n); waiting;) {
    const int leader = __ffs((int)waiting) - 1;
    const int x = __shfl_sync(0xffffffffu, c[0], leader), y = __shfl_sync(0xffffffffu, c[1], leader);
    const int z = __shfl_sync(0xffffffffu, c[2], leader);
    const bool mine = (waiting >> lane & 1u) && c[1] == y && c[2] == z && c[0] - x <= SPAN * s.grid.border[0];
    waiting &= ~__ballot_sync(0xffffffffu, mine);
    const warp_box b = warp_box_of<T::DIM>(at, mine, c, corner);
    const bool ghosts =
        __any_sync(0xffffffffu, mine && s.ghost.start && near_border<T::DIM>(s.grid, s.ghost, c));
    find_candidates<T, 1>(s, box_search{b, l.reach, share, ghosts, s.list.half, mine, at}, tile, f, read,
                          take);
  }
}

/* Makes the lists of 32 particles by one warp. */
template <class T>
static __device__ __forceinline__ void make_lists(const system_view<T> &s, int block, float reach,
                                                  warp_tile &tile)
{
  const listing<T> l = listing_of(s, block, reach);
  lane_search f = begin_search(l.here);
  int written = 0;
  const auto write = [&](const warp_tile &of, lane_search &g) {
    for (; g.left > 0; g.left -= 4) {
      int4 four;
      four.x = next_hit(of, g, 0);
      four.y = next_hit(of, g, 1);
      four.z = next_hit(of, g, 2);
      four.w = next_hit(of, g, 3);
      if (written < s.list.stride) l.list[(int64_t)written * 32] = four;
      ++written;
    }
  };
  search(s, l, ALL_ROWS, tile, f, write);
  take_hits(tile, f, write);
  const int rows = warp_largest(written);
  if ((threadIdx.x & 31) == 0) note_rows(s, block, rows);
#pragma unroll 1
  for (; written < min(rows, s.list.stride); ++written)
    l.list[(int64_t)written * 32] = make_int4(l.here, l.here, l.here, l.here);
}

template <class T>
static __global__ void __launch_bounds__(FINDING_THREADS, LIST_BLOCKS)
    k_list(const __grid_constant__ system_view<T> s, float reach)
{
  __shared__ warp_tiles tiles;
  const int block = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
  if (block * 32 >= s.n) return;
  make_lists(s, block, reach, tile_of_warp(tiles));
}

/* The same by several warps for 32 particles: a block, whose warps take turns with the rows of cells. Each warp keeps
 * its hits in its tile until all have counted theirs, and then writes them after those of the warps before it. If a
 * tile becomes full, the first warp does all. */
template <class T, int WARPS>
static __global__ void __launch_bounds__(32 * WARPS)
    k_list_shared(const __grid_constant__ system_view<T> s, float reach)
{
  __shared__ warp_tile tiles[WARPS];
  __shared__ int hits[WARPS][32];
  /* A rank may have no particles. */
  if ((int)blockIdx.x * 32 >= s.n) return;
  const int lane = threadIdx.x & 31, warp = __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0);
  warp_tile &tile = tiles[warp];
  const listing<T> l = listing_of(s, blockIdx.x, reach);
  lane_search f = begin_search(l.here);
  bool full = false;
  search(s, l, __ballot_sync(0xffffffffu, lane % WARPS == warp), tile, f,
         [&](const warp_tile &, lane_search &) { full = true; });
  hits[warp][lane] = f.left;
  if (__syncthreads_or(full)) {
    if (warp == 0) make_lists(s, blockIdx.x, reach, tile);
    return;
  }
  int at = 0, all = 0;
#pragma unroll
  for (int w = 0; w < WARPS; ++w) {
    if (w < warp) at += hits[w][lane];
    all += hits[w][lane];
  }
  const int rows = warp_largest((all + 3) / 4), room = min(rows, s.list.stride) * 4;
  const auto put = [&](int entry, int j) { ((int *)(l.list + (int64_t)(entry >> 2) * 32))[entry & 3] = j; };
  take_hits(tile, f, [&](const warp_tile &of, lane_search &g) {
    for (; g.left > 0; --g.left, ++at) {
      const int j = next_hit(of, g, 0);
      if (at < room) put(at, j);
    }
  });
  if (warp > 0) return;
  if (lane == 0) note_rows(s, blockIdx.x, rows);
  for (; all < room; ++all) put(all, l.here);
}

/* Warps that share the lists of 32 particles. Fewer of them were no faster than one. */
constexpr int SHARING = 8;

/* Several warps share lists only if the device has room for all of them at once. */
template <class T> static md_status launch_lists(const launch &l, const system_view<T> &s, float reach)
{
  const int blocks = blocks_for(s.n, 32);
  if constexpr (HAS_LANES<T>)
    if ((int64_t)blocks * SHARING <= (int64_t)l.processors * LIST_BLOCKS * (FINDING_THREADS / 32)) {
      k_list_shared<T, SHARING><<<blocks, 32 * SHARING, 0, l.stream>>>(s, reach);
      MD_LAUNCHED("k_list_shared");
      return MD_OK;
    }
  k_list<T><<<blocks_for(s.n, FINDING_THREADS), FINDING_THREADS, 0, l.stream>>>(s, reach);
  MD_LAUNCHED("k_list");
  return MD_OK;
}

template <class T> md_status launch_round(const launch &l, const system_view<T> &s, rounded_part part)
{
  const int64_t own = part == ROUNDS_GHOSTS ? 0 : s.n, ghosts = part == ROUNDS_OWN ? 0 : s.ghost.capacity;
  return launch_early(l, blocks_for(own + ghosts, l.threads), "launch of k_round", k_round<T>, s, part);
}

template <class T> md_status launch_list(const launch &l, const system_view<T> &s, rounded_part left)
{
  MD_TRY(launch_round<T>(l, s, left));
  return launch_lists(l, s, list_reach(s));
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_round<T>(const launch &, const system_view<T> &, rounded_part);                  \
  template md_status launch_list<T>(const launch &, const system_view<T> &, rounded_part);
INSTANCE(exact2_tagged)
INSTANCE(exact3_tagged)
INSTANCE(exact3_packed)
INSTANCE(mixed2_tagged)
INSTANCE(mixed3_tagged)
