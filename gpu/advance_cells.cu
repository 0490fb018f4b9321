/* One step without lists: force from cells, kick and drift, in one kernel.
 *
 * One thread a particle; threads follow the particles' order, which is that of the cells. With x the fastest axis the
 * three cells of a stencil row are one contiguous range of particles, so that 3 x 3 cells are three ranges. The stencil
 * is that around the cell where the particle is now: its position, which is read anyway, tells, and no array of cells is
 * needed (step.cuh says why that is enough). A warp first only compares, up to 8 candidates a row, and remembers in a
 * bit mask which may be within the cutoff; then it evaluates those. Few of the candidates are, so evaluating them on the
 * spot would make the whole warp wait at almost every candidate. In mixed precision and two dimensions a candidate is
 * compared with the square around the cutoff, in integers: that takes half the operations of the distance, which waits
 * until the evaluation. In double the few more hits cost more than it saves.
 *
 * Positions are read from one array and written to the other; velocities stay in place. Bytes a particle and step in
 * 2D: 32 + 32 for positions and velocities, and 4 a cell for the ranges; all other reads hit a cache. A block takes
 * several times its threads of particles that lie next to each other, so that beginning and ending a step (state.cuh)
 * costs little, and that blocks at work at the same time share rows in the cache. A particle's velocity, and the next
 * one's position, are on their way early: everything else waits for positions. With many particles in double, what
 * blocks yet to come will read is fetched into L2 a little before; what is written is marked as the first to leave it.
 *
 * The kernel comes in three kinds: one that only steps; one that besides counts how many particles each cell will hold after
 * the next step, where cell_ahead() expects them; and one, the next, that writes everybody to the place which that
 * leaves (engine_sorting.cuh).
 */
#include "gpu/advance.cuh"

#include <algorithm>

/* Candidates of a row that are compared before the hits are evaluated. They are loaded in groups: the first is of four,
 * which rows have that are not nearly empty, the others of two, as seldom more than one lane has more. */
constexpr int CHUNK = 8, GROUPS = 3;
/* Particles a thread moves one after the other, at most; and how many an H100 moves at a time, if each thread has one:
 * fewer than that must not wait for one another. */
constexpr int TILE = 4, WAVE = 1 << 17;
/* From how many particles on, in double and 2D, to fetch ahead, and how far, in particles: about half of what an H100 works
 * on at a time. Farther crowds out of L2 what is still needed (10^7: 332 us a step without, 320 with 50 000, 315 with
 * 150 000, 375 with 500 000). */
constexpr int MANY = 1 << 22, AHEAD = 150000;
/* Blocks of 256 threads that a multiprocessor should hold in mixed 2D: a few spilled registers cost less there than fewer
 * warps. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
constexpr int RESIDENT = 4;
#else
constexpr int RESIDENT = 5;
#endif

/* How a step goes through the particles. */
struct pace {
  int tile;                 /* particles that a thread moves one after the other */
  unsigned ahead;           /* fetched so many particles before they are needed; 0: not */
  unsigned positions_ahead; /* positions are first needed a row earlier */
  unsigned cells_ahead;     /* and likewise the beginnings of cells */
};

template <class T> static pace pace_of(const system_view<T> &s)
{
  const int tile = std::min(s.members / WAVE + 1, TILE);
  if (T::MIXED || T::DIM == 3 || s.members < MANY) return pace{tile, 0, 0, 0};
  const double per_cell = (double)s.n / s.grid.total;
  return pace{2, AHEAD, AHEAD + (unsigned)(per_cell * s.grid.row),
              (unsigned)s.grid.row + (unsigned)(AHEAD / per_cell)};
}

template <class U> static __device__ __forceinline__ void fetch(const U *at)
{
  asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}

/* Compare with the square around the cutoff, and leave the distance to the evaluation? */
template <class T> constexpr bool IN_SQUARE = T::MIXED &&T::DIM == 2;

/* Does a candidate lie where it may be within the cutoff? */
template <class T>
static __device__ __forceinline__ bool may_hit(const system_view<T> &s, const typename T::record &xi,
                                               const typename T::record &xj)
{
  if constexpr (IN_SQUARE<T>) {
    bool hit = true;
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) hit = hit && xi.x[d] - xj.x[d] + s.reach32[d] <= 2u * s.reach32[d];
    return hit;
  } else {
    typename T::real delta[3];
    return separation<T>(s.scale, xi, xj, delta) < s.k[0];
  }
}

/* Adds the impulses from three ranges of records, in ascending order, to particle i. */
template <class T, int STYLE, bool GHOSTS>
static __device__ __forceinline__ void
scan_ranges(const system_view<T> &s, const typename T::record *__restrict__ x, const typename T::record &xi,
            int i, const int begin[3], const int end[3], typename T::sum sum[3], bool &near)
{
  typedef typename T::real real;
  int most[3];
#pragma unroll
  for (int y = 0; y < 3; ++y) most[y] = warp_largest(end[y] - begin[y]);
  for (int from = 0; from < max(most[0], max(most[1], most[2])); from += CHUNK) {
    unsigned hits = 0;
#pragma unroll
    for (int y = 0; y < 3; ++y)
#pragma unroll
      for (int group = 0; group < GROUPS; ++group) {
        const int first = group == 0 ? 0 : 2 * group + 2;
        if (first >= most[y] - from) break;
#pragma unroll
        for (int u = first; u < 2 * group + 4; ++u) {
          if (u >= end[y] - begin[y] - from) continue;
          if (may_hit<T>(s, xi, load_record(x + begin[y] + from + u))) hits |= 1u << (y * CHUNK + u);
        }
      }
    if constexpr (!GHOSTS) {
      /* Since the rebin i may have come to another row. */
      const int row = i < begin[1] ? 0 : i < begin[2] ? 1 : 2;
      const unsigned self = (unsigned)(i - from - (row == 0 ? begin[0] : row == 1 ? begin[1] : begin[2]));
      if (self < CHUNK) hits &= ~(1u << (row * CHUNK + self));
    }
    while (hits) {
      const int t = __ffs((int)hits) - 1, row = t / CHUNK;
      hits &= hits - 1;
      const int j = (row == 0 ? begin[0] : row == 1 ? begin[1] : begin[2]) + from + t % CHUNK;
      if constexpr (GHOSTS)
        if (own_image<T>(s, i, j)) continue;
      real delta[3];
      const real r2 = separation<T>(s.scale, xi, load_record(x + j), delta);
      if constexpr (IN_SQUARE<T>)
        if (!(r2 < s.k[0])) continue;
      near = near || too_near<T>(s, r2);
      const real f = force_of<STYLE>(r2, s.k);
#pragma unroll
      for (int d = 0; d < T::DIM; ++d) T::add(sum[d], f, delta[d]);
    }
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) T::settle(sum[d]);
  }
}

/* Ranges of the three rows around `cell`. */
static __device__ __forceinline__ void three_rows(const int *__restrict__ start, int cell, int row,
                                                  int begin[3], int end[3])
{
#pragma unroll
  for (int y = 0; y < 3; ++y) {
    const int first = cell + (y - 1) * row - 1;
    begin[y] = __ldg(start + first);
    end[y] = __ldg(start + first + 3);
  }
}

template <class T, int STYLE>
static __device__ __forceinline__ void
scan_cells(const system_view<T> &s, const pace &p, const typename T::record *__restrict__ x,
           const typename T::record &xi, int i, bool active, typename T::sum sum[3], bool &near)
{
  int begin[3] = {0, 0, 0}, end[3] = {0, 0, 0}, c[3];
  cell_at<T>(s, xi, c);
  const int cell = cell_number<T::DIM>(s.grid, c);
  if (p.ahead) fetch(s.start + min((unsigned)cell + p.cells_ahead, (unsigned)s.grid.total));
  const bool ghosts = active && s.ghost.start && near_border<T::DIM>(s.grid, s.ghost, c);
  const bool any_ghosts = __any_sync(0xffffffffu, ghosts);
  constexpr int LAYERS = T::DIM == 3 ? 1 : 0;
  for (int z = -LAYERS; z <= LAYERS; ++z) {
    if (active) three_rows(s.start, cell + z * s.grid.layer, s.grid.row, begin, end);
    scan_ranges<T, STYLE, false>(s, x, xi, i, begin, end, sum, near);
    if (!any_ghosts) continue;
    int ghost_begin[3] = {0, 0, 0}, ghost_end[3] = {0, 0, 0};
    if (ghosts) {
      const int middle = ghost_cell(s.ghost, cell + z * s.grid.layer);
      three_rows(s.ghost.start, middle, s.grid.row, ghost_begin, ghost_end);
#pragma unroll
      for (int y = 0; y < 3; ++y) {
        ghost_begin[y] += s.n;
        ghost_end[y] += s.n;
      }
    }
    scan_ranges<T, STYLE, true>(s, x, xi, i, ghost_begin, ghost_end, sum, near);
  }
}

/* The cell where a particle is expected after the next step: what its impulse changes of that is little. Whoever asks, it
 * is the same. */
template <class T>
static __device__ __forceinline__ int cell_ahead(const system_view<T> &s, const step_args &a,
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

template <class T, int STYLE, bool SCATTERED, step_sorting SORTING>
static __global__ void __launch_bounds__(256, T::DIM == 3 ? 2
                                              : T::MIXED  ? RESIDENT
                                                          : 4)
    k_advance_cells(const __grid_constant__ system_view<T> s, const __grid_constant__ step_args a,
                    const __grid_constant__ pace p, const __grid_constant__ next_order<T> order)
{
  constexpr bool MOVES = SORTING == SORTS_MOVE;
  progress now;
  if (!begin_step(s, true, now)) return;
  const unsigned parity = now.parity;
  const typename T::record *__restrict__ x = s.x[parity];
  const double kicks = now.done == 0 ? a.first_kicks : a.kicks;
  findings found = {0, 0, 0.0f};
  const unsigned last = (unsigned)s.members - 1;
  unsigned k = blockIdx.x * p.tile * blockDim.x + threadIdx.x;
  typename T::record next = load_record(x + member<SCATTERED>(s, (int)min(k, last)));
  /* A warp stays together: its lanes share every loop. */
#pragma unroll 1
  for (int tile = 0; tile < p.tile && (k & ~31u) <= last; ++tile, k += blockDim.x) {
    const bool active = k <= last;
    const unsigned i = (unsigned)member<SCATTERED>(s, (int)min(k, last));
    const typename T::record xi = next;
    if (tile + 1 < p.tile) next = load_record(x + member<SCATTERED>(s, (int)min(k + blockDim.x, last)));
    if (p.ahead) {
      fetch(x + min(i + p.positions_ahead, (unsigned)s.n - 1));
#pragma unroll
      for (int d = 0; d < T::DIM; ++d) fetch(s.v[d] + min(i + p.ahead, (unsigned)s.n - 1));
    }
    typename T::real impulse[3], v[3];
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) v[d] = __ldcs(s.v[d] + i);
    const unsigned other = others<SCATTERED>(s, (int)i);
    typename T::sum sum[3];
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) T::clear(sum[d]);
    bool near = false;
    if (kicks != 0.0) scan_cells<T, STYLE>(s, p, x, xi, (int)i, active, sum, near);
    /* Only now, as everything above would wait for it; those of the other part are few. */
    if (!active || !is_own(other, (int)i)) continue;
    destination<T> to = {s.v, (int)i};
    if constexpr (MOVES) to = {order.to.v, atomicAdd(&order.cursor[cell_ahead<T>(s, a, xi, v)], 1)};
    typename T::record x_moved = xi;
    if (near) {
      merge(found, move_near_particle<T, STYLE, FROM_CELLS, MOVES>(s, a, kicks, (int)i, to, parity));
      if constexpr (SORTING == SORTS_COUNT) {
        x_moved = s.x[parity ^ 1u][i];
#pragma unroll
        for (int d = 0; d < T::DIM; ++d) v[d] = s.v[d][i];
      }
    } else {
#pragma unroll
      for (int d = 0; d < T::DIM; ++d) impulse[d] = T::total(sum[d]);
      move_particle<T, FROM_CELLS, MOVES>(s, a, kicks, to, x_moved, v, impulse, parity, found);
    }
    if constexpr (SORTING == SORTS_COUNT) atomicAdd(&order.cursor[cell_ahead<T>(s, a, x_moved, v)], 1);
    if constexpr (MOVES) store_last(order.to.origin + to.at, order.to.origin_from[i]);
  }
  end_step(s.ctl, s.launch, found.bits, slack_after<T>(s, MOVES ? 0.0f : now.usage, found.most));
}

template <class T, bool SCATTERED, step_sorting SORTING>
static md_status launch_parts(const launch &l, md_pair_kind kind, const system_view<T> &s, const step_args &a,
                              const next_order<T> &next)
{
  const pace p = pace_of(s);
  const int blocks = blocks_for(s.members, p.tile * l.threads);
  return launch_styled(kind, [&](auto style) {
    return launch_early(l, blocks, "launch of k_advance_cells",
                        k_advance_cells<T, style.value, SCATTERED, SORTING>, s, a, p, next);
  });
}

template <class T>
md_status launch_advance_cells(const launch &l, md_pair_kind kind, const system_view<T> &s,
                               const step_args &a, const next_order<T> &next)
{
  if constexpr (!T::TAGGED) {
    if (next.sorting == SORTS_COUNT)
      return launch_parts<T, false, SORTS_COUNT>(l, kind, undivided(s), a, next);
    if (next.sorting == SORTS_MOVE) return launch_parts<T, false, SORTS_MOVE>(l, kind, undivided(s), a, next);
  }
  return in_parts(s, [&](const system_view<T> &part, auto scattered) {
    if constexpr (T::DIM == 3 && !scattered.value)
      if (s.dense) return launch_advance_dense<T>(l, kind, part, a);
    return launch_parts<T, scattered.value, SORTS_NOT>(l, kind, part, a, next);
  });
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_advance_cells<T>(const launch &, md_pair_kind, const system_view<T> &,           \
                                             const step_args &, const next_order<T> &);
INSTANCE(exact2)
INSTANCE(exact3_tagged)
INSTANCE(mixed2)
INSTANCE(mixed3_tagged)
