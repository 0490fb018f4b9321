/* One step without lists in two dimensions, for particles of one type: force from cells, kick and drift in one kernel.
 *
 * Each thread has one particle. Threads follow the order of the particles, which is that of the cells. For its particle
 * a thread does this:
 *
 *   1. It computes the cell where the particle is now, from the position that it reads anyway. So no array of cells is
 *      needed. gpu/move/kick_drift.cuh says why the stencil of this cell is enough.
 *   2. The 3 x 3 cells of the stencil are three contiguous ranges of particles, because x is the fastest axis.
 *   3. It looks only at the coarse positions of the candidates (gpu/neighbour/prefilter.cuh), and notes in a word of
 *      bits which of them may be within the cutoff.
 *   4. It evaluates these hits. Few candidates are hits. If they were evaluated at once in 3, the whole warp would wait
 *      at almost every candidate.
 *   5. It kicks and drifts the particle. Positions are read from one array and written to the other; velocities stay in
 *      place (SORTS_MOVE: they go to other arrays, too).
 *
 * Particles with a pair that is too near for the fast rounding come last. If the loop called the careful sum, all that
 * is being loaded would have to be kept over the call.
 *
 * A tile is as many particles as a block has threads. A block moves several tiles. While it moves one, the position and
 * the ranges of the next are being loaded. There are two paces, here with 3 blocks and 6 tiles:
 *
 *      tiles in memory     0 1 2 3 4 5
 *      short pace          A B C A B C     all blocks A, B, C are resident: they work at the same time until the end.
 *                          C B A C B A     In every other step they go backwards, and begin with what the step before
 *                                          has left in L2.
 *      long pace           A A B B C C     Each block takes a few tiles that lie together, and prefetches into L2 what
 *                                          later blocks will read.
 *
 * The long pace is for large systems. There the blocks of the short pace would get too far apart to share rows of cells
 * in the caches. Little of the step before is left in L2 then, so going backwards costs more than it saves. What the
 * kernel writes is marked as the first to leave L2.
 *
 * At the short pace no block ends before the kernel does. So the part of a step that runs beside messages leaves an
 * eighth of the places to the kernels of messages.
 *
 * There are three kinds of the kernel (gpu/run/sorting.cuh). SORTS_NOT only does the step. SORTS_COUNT also counts how
 * many particles each cell will hold after the next step, by foreseen_cell(). SORTS_MOVE is that next step. It writes
 * every particle to its place in the new order.
 *
 * Trade-off: a candidate that is no hit costs 4 bytes. But coarse positions are written in every step, and each pair is
 * evaluated twice, by both partners.
 * Bytes a particle and step: 32 + 32 for positions and velocities (in mixed precision half of it), 8 for coarse
 * positions, 4 a cell for the ranges. All other reads hit a cache.
 */
#include "gpu/neighbour/launches.cuh"
#include "gpu/neighbour/prefilter.cuh"
#include "gpu/runtime/prefetch.cuh"
#include "gpu/step/launches.cuh"

#include <algorithm>

/* How many candidates of a row are tested together: as many as registers hold. */
template <class T> constexpr int CANDIDATES = T::MIXED ? 10 : 8;
/* MOST_TILES: the most tiles of a block at the short pace. FEW_TILES: the tiles of a block at the long pace. With more
 * of them, the tiles of different blocks would push each other out of L2. */
constexpr int MOST_TILES = 32;
template <class T> constexpr int FEW_TILES = T::MIXED ? 4 : 2;
/* How many particles ahead to prefetch: half of those that an H100 works on at the same time. */
constexpr unsigned AHEAD = 75000;
/* How many blocks of 256 threads are resident on a multiprocessor. In mixed precision a few spilled registers cost less
 * than fewer warps. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
template <class T> constexpr int RESIDENT = 4;
#else
template <class T> constexpr int RESIDENT = T::MIXED ? 5 : 4;
#endif

/* The pace of a launch: which tiles a block takes, and in which order.
 *
 *   first                  first particle of block 0
 *   block                  particles from the first tile of a block to that of the next block
 *   tile                   particles from a tile of a block to its next tile
 *   velocities, positions  how many particles ahead to prefetch; 0: no prefetch
 *   cells                  the same in cells, for the ranges
 *
 * Backwards, `block` and `tile` are negative, modulo 2^32. Positions are needed one row of cells earlier than
 * velocities, because the stencil reaches one row ahead. */
struct pace {
  int blocks, tiles;
  unsigned first, block, tile;
  unsigned velocities, positions, cells;
};

template <class T> static pace pace_of(const system_view<T> &s, const launch &l)
{
  const int all = blocks_for(s.part.members, l.threads),
            places = l.processors * RESIDENT<T> * 256 / l.threads,
            resident = s.part.which == PART_REST ? places - l.processors / 2 : places;
  const unsigned threads = (unsigned)l.threads;
  const int blocks = std::min(all, resident), tiles = (all + blocks - 1) / blocks, few = FEW_TILES<T>;
  if (tiles <= MOST_TILES) {
    const unsigned far = (unsigned)blocks * threads;
    if (s.launch % 2 == 0) return pace{blocks, tiles, 0, threads, far, 0, 0, 0};
    /* Whole warps come first. The rest, which does not fill a warp, comes last. */
    const unsigned top = (((unsigned)s.part.members + 31u) & ~31u) - threads;
    return pace{blocks, tiles, top, 0u - threads, 0u - far, 0, 0, 0};
  }
  const double per_cell = (double)s.n / s.grid.total;
  return pace{(all + few - 1) / few,
              few,
              0,
              (unsigned)few * threads,
              threads,
              AHEAD,
              AHEAD + (unsigned)(per_cell * s.grid.row),
              (unsigned)s.grid.row + (unsigned)(AHEAD / per_cell)};
}

/* Prefetches what a later block will read. first: the first particle of this block. */
template <class T>
static __device__ __forceinline__ void fetch_for_later(const system_view<T> &s, const pace &p,
                                                       unsigned parity, unsigned first)
{
  const unsigned n = (unsigned)s.n, count = p.block;
  const unsigned position = first + p.positions, velocity = first + p.velocities;
  fetch_range(s.x[parity], position, min(position + count, n));
  fetch_range(s.rest[parity], position, min(position + count, n));
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) fetch_range(s.v[d], velocity, min(velocity + count, n));
}

/* The ranges of particles in the three rows around the cell where x is now. They are empty if the thread is not active.
 * Prefetches cell_start for later blocks. */
template <class T>
static __device__ __forceinline__ three_rows rows_of(const system_view<T> &s, const pace &p,
                                                     const typename T::record &x, bool active)
{
  const int cell = cell_of<T>(s, x);
  if (p.cells) fetch(s.grid.start + min((unsigned)cell + p.cells, (unsigned)s.grid.total));
  return active ? rows_around(s.grid.start, cell, s.grid.row) : three_rows{};
}

/* The foreseen cell of a particle with position x and velocity v: where it will be after the next step if it gets no
 * impulse in that step. The counting step and the moving step compute it from the same bits, so both get the same
 * cell. */
template <class T>
static __device__ __forceinline__ int foreseen_cell(const system_view<T> &s, const step_args &a,
                                                    typename T::record x, const typename T::real v[3])
{
#pragma unroll
  for (int d = 0; d < T::DIM; ++d)
    if constexpr (T::MIXED)
      x.x[d] += (uint32_t)__float2int_rn(v[d] * a.time_scale_single * s.scale.per_unit_single[d]);
    else
      x.x[d] = fma(v[d], a.time_scale, x.x[d]);
  return cell_of<T>(s, x);
}

/* The destination of particle i, before the step. SORTS_MOVE: the next free place of its foreseen cell; its origin is
 * written there, too. Otherwise it keeps its place. */
template <class T, step_sorting SORTING>
static __device__ __forceinline__ destination<T>
destination_of(const system_view<T> &s, const step_args &a, const next_order<T> &order, int i,
               const typename T::record &x, const typename T::real v[3])
{
  if constexpr (SORTING != SORTS_MOVE) return destination<T>{s.v, i};
  const int to = atomicAdd(&order.cursor[foreseen_cell<T>(s, a, x, v)], 1);
  store_last(order.to.origin + to, order.to.origin_from[i]);
  return destination<T>{order.to.v, to};
}

/* The whole step of particle i, which has a pair that is too near for the fast rounding. */
template <class T, int STYLE, step_sorting SORTING>
static __device__ __forceinline__ void move_late(const system_view<T> &s, const step_args &a,
                                                 const next_order<T> &order, typename T::real kicks, int i,
                                                 unsigned parity, findings &found)
{
  typename T::real v[3];
  load_velocity(s, i, v);
  const destination<T> to = destination_of<T, SORTING>(s, a, order, i, load_record(s.x[parity] + i), v);
  merge(found, move_near_particle<T, STYLE, FROM_CELLS, SORTING == SORTS_MOVE>(s, a, kicks, i, to, parity));
  if constexpr (SORTING == SORTS_COUNT) {
    load_velocity(s, i, v);
    atomicAdd(&order.cursor[foreseen_cell<T>(s, a, load_record(s.x[parity ^ 1u] + i), v)], 1);
  }
}

/* Adds the impulses of pairs with ghosts to sum[], where a cell has ghosts around it. All lanes of a warp call it
 * together. */
template <class T, int STYLE>
static __device__ __forceinline__ void
add_ghosts(const system_view<T> &s, const typename T::record *__restrict__ x, const typename T::record &xi,
           int i, bool active, typename T::sum sum[3], int &least)
{
  int c[3];
  cell_at<T>(s, xi, c);
  const bool ghosts = active && near_border<T::DIM>(s.grid, s.ghost, c);
  if (!__any_sync(0xffffffffu, ghosts)) return;
  three_rows of_ghosts = {};
  if (ghosts) of_ghosts = ghost_rows_around(s, cell_number<T::DIM>(s.grid, c));
  scan_rows<T, STYLE, true>(s, x, xi, i, of_ghosts, sum, least);
}

template <class T, int STYLE, bool SCATTERED, bool GHOSTS, step_sorting SORTING>
static __global__ void __launch_bounds__(256, RESIDENT<T>)
    k_step_cells_2d(const __grid_constant__ system_view<T> s, const __grid_constant__ step_args a,
                    const __grid_constant__ pace p, const __grid_constant__ next_order<T> order)
{
  progress now;
  if (!begin_step(s, true, now)) return;
  const unsigned parity = now.parity;
  const typename T::record *__restrict__ x = s.x[parity];
  const coarse_position *__restrict__ coarse = s.rest[parity];
  const typename T::real kicks = (typename T::real)(now.done == 0 ? a.first_kicks : a.kicks);
  findings found = {0, 0, 0.0f};
  const unsigned last = (unsigned)s.part.members - 1, begin = p.first + blockIdx.x * p.block + threadIdx.x;
  if (p.velocities) fetch_for_later(s, p, parity, (unsigned)member<SCATTERED>(s, (int)(begin - threadIdx.x)));
  unsigned k = begin, late = 0; /* late: a bit for each tile whose particle comes last */
  typename T::record next = load_record(x + member<SCATTERED>(s, (int)min(k, last)));
  three_rows next_rows = rows_of<T>(s, p, next, k <= last);
  /* All lanes of a warp take the same number of turns, because they share every loop. */
#pragma unroll 1
  for (int tile = 0; tile < p.tiles && (k & ~31u) <= last; ++tile, k += p.tile) {
    const bool active = k <= last, more = tile + 1 < p.tiles;
    const int i = member<SCATTERED>(s, (int)min(k, last));
    const typename T::record xi = next;
    const three_rows rows = next_rows;
    const unsigned other = others<SCATTERED>(s, i);
    const coarse_position own_coarse = T::coarse(s.scale.coarse, xi);
    unsigned hits = 0;
    if (kicks != 0) hits = prefilter<CANDIDATES<T>, true>(s, coarse, own_coarse, i, rows, 0);
    /* The compiler must not move the loads below to before this line, where they would take registers. */
    __syncwarp();
    typename T::real impulse[3], v[3];
    load_velocity(s, i, v);
    if (more) next = load_record(x + member<SCATTERED>(s, (int)min(k + p.tile, last)));
    typename T::sum sum[3];
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) T::clear(sum[d]);
    int least = INT_MAX;
    const auto evaluate = [&](unsigned bits, int from) {
      for (; bits; bits &= bits - 1) {
        const int j = candidate<CANDIDATES<T>>(rows, from, __ffs((int)bits) - 1);
        evaluate_pair<T, STYLE>(s, xi, load_record(x + j), true, sum, least);
      }
    };
    if (kicks != 0) {
      int longest = 0;
#pragma unroll
      for (int y = 0; y < 3; ++y) longest = max(longest, rows.end[y] - even(rows.begin[y]));
      for (int from = CANDIDATES<T>; __any_sync(0xffffffffu, longest > from); from += CANDIDATES<T>)
        evaluate(prefilter<CANDIDATES<T>, false>(s, coarse, own_coarse, i, rows, from), from);
      evaluate(hits, 0);
      if constexpr (GHOSTS) add_ghosts<T, STYLE>(s, x, xi, i, active, sum, least);
    }
    if (more) next_rows = rows_of<T>(s, p, next, k + p.tile <= last);
    /* Particles of the other part leave only here. If they left earlier, all loads above would wait for `other`; and
     * they are few. */
    if (!active || !is_own(other, i)) continue;
    if (least <= s.pair.close_high) {
      late |= 1u << tile;
      continue;
    }
    const destination<T> to = destination_of<T, SORTING>(s, a, order, i, xi, v);
    typename T::record moved = xi;
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) impulse[d] = T::total(sum[d]);
    move_particle<T, FROM_CELLS, SORTING == SORTS_MOVE>(s, a, kicks, to, moved, v, impulse, parity, found);
    if constexpr (SORTING == SORTS_COUNT) atomicAdd(&order.cursor[foreseen_cell<T>(s, a, moved, v)], 1);
  }
  for (; late; late &= late - 1) {
    const int i = member<SCATTERED>(s, (int)(begin + (unsigned)(__ffs((int)late) - 1) * p.tile));
    move_late<T, STYLE, SORTING>(s, a, order, kicks, i, parity, found);
  }
  const float before = SORTING == SORTS_MOVE ? 0.0f : now.usage;
  end_step(s.ctl, s.launch, found.bits, slack_after<T>(s, before, found.most));
}

template <class T, bool SCATTERED, bool GHOSTS, step_sorting SORTING>
static md_status launch_parts(const launch &l, md_pair_kind kind, const system_view<T> &s, const step_args &a,
                              const next_order<T> &next)
{
  const pace p = pace_of(s, l);
  return launch_styled(kind, [&](auto style) {
    return launch_early(l, p.blocks, "launch of k_step_cells_2d",
                        k_step_cells_2d<T, style.value, SCATTERED, GHOSTS, SORTING>, s, a, p, next);
  });
}

/* Launches a step that sorts, for all particles or for a part. Only parts that are SCATTERED need to look for ghosts:
 * every particle with ghosts in its stencil is among those that are sent (gpu/ranks/deferred.inc). */
template <class T, step_sorting SORTING>
static md_status launch_sorting(const launch &l, md_pair_kind kind, const system_view<T> &s,
                                const step_args &a, const next_order<T> &next)
{
  return in_parts(s, [&](const system_view<T> &view, auto scattered) {
    return launch_parts<T, scattered.value, scattered.value, SORTING>(l, kind, view, a, next);
  });
}

template <class T>
md_status launch_step_cells_2d(const launch &l, md_pair_kind kind, const system_view<T> &s,
                               const step_args &a, const next_order<T> &next)
{
  if (next.sorting == SORTS_COUNT) return launch_sorting<T, SORTS_COUNT>(l, kind, s, a, next);
  if (next.sorting == SORTS_MOVE) return launch_sorting<T, SORTS_MOVE>(l, kind, s, a, next);
  return in_parts(s, [&](const system_view<T> &view, auto scattered) {
    if constexpr (!scattered.value)
      if (!s.ghost.start) return launch_parts<T, false, false, SORTS_NOT>(l, kind, view, a, next);
    return launch_parts<T, scattered.value, true, SORTS_NOT>(l, kind, view, a, next);
  });
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_step_cells_2d<T>(const launch &, md_pair_kind, const system_view<T> &,           \
                                             const step_args &, const next_order<T> &);
INSTANCE(exact2)
INSTANCE(mixed2)
