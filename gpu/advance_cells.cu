/* One step without lists: force from cells, kick and drift, in one kernel.
 *
 * One thread a particle; threads follow the particles' order, which is that of the cells. With x the fastest axis the
 * three cells of a stencil row are one contiguous range of particles, so that 3 x 3 cells are three ranges. A warp first
 * only compares distances, up to 8 candidates a row, and remembers in a bit mask which are within the cutoff; then it
 * evaluates those. Few of the candidates are (one in eleven for the 2D repulsion), so evaluating them on the spot
 * would make the whole warp wait at almost every candidate. The loop over candidates is unrolled, with the same bounds
 * for a whole warp: a candidate then costs a load at a fixed offset, five operations and a bit.
 *
 * Positions are read from one array and written to the other; velocities stay in place. Bytes a particle and step in
 * 2D: 32 + 32 for positions and velocities, 4 for its cell and 4 a cell for the ranges; all other reads hit a cache.
 * Blocks walk over the particles, so that ending a step (state.cuh) costs a few thousand atomics however many there are,
 * and that the cell of the next particle is on its way early: everything else waits for it.
 */
#include "gpu/advance.cuh"

/* Candidates of a row that are compared before the hits are evaluated, and that are loaded together. */
constexpr int CHUNK = 8, GROUP = 4;
/* Blocks of 256 threads that a multiprocessor should hold, in the registers' favour. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
constexpr int RESIDENT = 4;
#else
constexpr int RESIDENT = 5;
#endif

/* Bits of the candidates within the cutoff among the first CHUNK of a row; `left` of them exist, `most` in any thread of
 * the warp. */
template <class T>
static __device__ __forceinline__ unsigned compare_row(const system_view<T> &s,
                                                       const typename T::record *__restrict__ at,
                                                       const typename T::record &xi, int left, int most)
{
  unsigned hits = 0;
#pragma unroll
  for (int group = 0; group < CHUNK; group += GROUP) {
    if (group >= most) break;
#pragma unroll
    for (int u = group; u < group + GROUP; ++u) {
      if (u >= left) continue;
      const typename T::record xj = load_record(at + u);
      typename T::real delta[3];
      if (separation<T>(s.scale, xi, xj, delta) < s.k[0]) hits |= 1u << u;
    }
  }
  return hits;
}

/* Adds the impulses from three ranges of records to particle i. */
template <class T, int STYLE>
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
      hits |= compare_row<T>(s, x + begin[y] + from, xi, end[y] - begin[y] - from, most[y] - from)
              << (y * CHUNK);
    const unsigned self = (unsigned)(i - begin[1] - from);
    if (self < CHUNK) hits &= ~(1u << (CHUNK + self));
    while (hits) {
      const int t = __ffs((int)hits) - 1, row = t / CHUNK;
      hits &= hits - 1;
      const int j = (row == 0 ? begin[0] : row == 1 ? begin[1] : begin[2]) + from + t % CHUNK;
      real delta[3];
      const real r2 = separation<T>(s.scale, xi, load_record(x + j), delta);
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
    begin[y] = start[first];
    end[y] = start[first + 3];
  }
}

template <class T, int STYLE>
static __device__ __forceinline__ void
scan_cells(const system_view<T> &s, const typename T::record *__restrict__ x, const typename T::record &xi,
           int i, int cell, bool active, typename T::sum sum[3], bool &near)
{
  int begin[3] = {0, 0, 0}, end[3] = {0, 0, 0};
  bool ghosts = false;
  if (active && s.ghost.start) {
    int c[3];
    cell_coordinates<T::DIM>(s.grid, cell, c);
    ghosts = near_border<T::DIM>(s.grid, c);
  }
  const bool any_ghosts = __any_sync(0xffffffffu, ghosts);
  constexpr int LAYERS = T::DIM == 3 ? 1 : 0;
  for (int z = -LAYERS; z <= LAYERS; ++z) {
    if (active) three_rows(s.start, cell + z * s.grid.layer, s.grid.row, begin, end);
    scan_ranges<T, STYLE>(s, x, xi, i, begin, end, sum, near);
    if (!any_ghosts) continue;
    int ghost_begin[3] = {0, 0, 0}, ghost_end[3] = {0, 0, 0};
    if (ghosts) {
      three_rows(s.ghost.start, cell + z * s.grid.layer, s.grid.row, ghost_begin, ghost_end);
#pragma unroll
      for (int y = 0; y < 3; ++y) {
        ghost_begin[y] += s.n;
        ghost_end[y] += s.n;
      }
    }
    scan_ranges<T, STYLE>(s, x, xi, i, ghost_begin, ghost_end, sum, near);
  }
}

template <class T, int STYLE, bool PARTS>
static __global__ void __launch_bounds__(256, T::DIM == 3 ? 2
                                              : T::MIXED  ? RESIDENT
                                                          : 4)
    k_advance_cells(const __grid_constant__ system_view<T> s, const __grid_constant__ step_args a)
{
  progress now;
  if (!begin_step(s, true, now)) return;
  const unsigned parity = now.parity;
  const typename T::record *__restrict__ x = s.x[parity];
  const double kicks = now.done == 0 ? a.first_kicks : a.kicks;
  findings found = {0, 0.0f};
  /* A warp stays together: its lanes share every loop. */
  const int last = members<PARTS>(s) - 1;
  const unsigned stride = gridDim.x * blockDim.x;
  unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
  int next_cell = s.cell[member<PARTS>(s, min((int)k, last))];
  for (; (k & ~31u) <= (unsigned)last; k += stride) {
    const unsigned i = PARTS ? (unsigned)member<PARTS>(s, min((int)k, last)) : k;
    const bool active = k <= (unsigned)last && is_own<PARTS>(s, (int)i);
    const int cell = next_cell, here = active || PARTS ? (int)i : last;
    next_cell = s.cell[member<PARTS>(s, (int)min(k + stride, (unsigned)last))];
    const typename T::record xi = load_record(x + here);
    typename T::sum sum[3];
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) T::clear(sum[d]);
    bool near = false;
    if (kicks != 0.0) scan_cells<T, STYLE>(s, x, xi, (int)i, cell, active, sum, near);
    if (!active) continue;
    if (near) {
      merge(found, move_near_particle<T, STYLE, FROM_CELLS>(s, a, kicks, (int)i, parity));
      continue;
    }
    typename T::real impulse[3], v[3];
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) {
      v[d] = s.v[d][i];
      impulse[d] = T::total(sum[d]);
    }
    move_particle<T, FROM_CELLS>(s, a, kicks, (int)i, cell, xi, v, impulse, parity, found);
  }
  end_step(s.ctl, s.launch, found.bits, found.usage);
}

template <class T, bool PARTS>
static md_status launch_parts(const launch &l, md_pair_kind kind, const system_view<T> &s, const step_args &a)
{
  const int blocks = blocks_walking(l, members<PARTS>(s));
  switch (kind) {
#define MD_PAIR_STYLE(symbol, name)                                                                          \
  case MD_PAIR_##symbol:                                                                                     \
    k_advance_cells<T, MD_PAIR_##symbol, PARTS><<<blocks, l.threads, 0, l.stream>>>(s, a);                   \
    break;
#include "common/pair_styles.h"
#undef MD_PAIR_STYLE
  default: return md_error(MD_RUNTIME, "the GPU engine has no kernel for this pair style");
  }
  MD_LAUNCHED("k_advance_cells");
  return MD_OK;
}

template <class T>
md_status launch_advance_cells(const launch &l, md_pair_kind kind, const system_view<T> &s,
                               const step_args &a)
{
  return s.part == PART_ALL ? launch_parts<T, false>(l, kind, s, a) : launch_parts<T, true>(l, kind, s, a);
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_advance_cells<T>(const launch &, md_pair_kind, const system_view<T> &,           \
                                             const step_args &);
INSTANCE(exact2)
INSTANCE(exact3_tagged)
INSTANCE(mixed2)
INSTANCE(mixed3_tagged)
