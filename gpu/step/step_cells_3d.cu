/* One step without lists in three dimensions: force from cells, kick and drift in one kernel. step_cells_2d.cu does it
 * in two dimensions, and step_dense.cu where cells hold many particles.
 *
 *   1. Each thread has one particle. Threads follow the order of the particles, which is that of the cells.
 *   2. The thread computes the cell where its particle is now, from the position that it reads anyway. So no array of
 *      cells is needed. gpu/move/kick_drift.cuh says why the stencil of this cell is enough.
 *   3. The 3 x 3 x 3 cells of the stencil are nine contiguous ranges of particles (gpu/neighbour/rows.cuh). The thread
 *      sums the impulses of their particles, and of ghosts if the cell is near a border.
 *   4. The thread kicks and drifts its particle. It reads positions from one array and writes them to the other.
 *      Velocities stay in place.
 *
 * A thread does this for several particles, one after the other. The particles of a block lie next to each other. So
 * beginning and ending a step (gpu/particle/progress.cuh) costs little, and blocks that work at the same time share
 * rows of cells in the cache.
 *
 * Trade-off: no impulse is written or read, and no list. But each pair is evaluated twice, by both partners.
 * Bytes a particle and step: 64 + 48 for records and velocities, and 4 a cell for the ranges. All other reads hit a
 * cache.
 */
#include "gpu/neighbour/rows.cuh"
#include "gpu/step/launches.cuh"

#include <algorithm>

/* TILE: the most particles that a thread moves one after the other. WAVE: how many particles an H100 moves at the same
 * time, with one in each thread. If there are no more than that, no particle should wait for another. */
constexpr int TILE = 4, WAVE = 1 << 17;

/* Adds the impulses on particle i from all particles and ghosts of its stencil. All lanes of a warp call it together; a
 * lane that is not active gets none. least: see evaluate_pair(). */
template <class T, int STYLE>
static __device__ __forceinline__ void
scan_cells(const system_view<T> &s, const typename T::record *__restrict__ x, const typename T::record &xi,
           int i, bool active, typename T::sum sum[3], int &least)
{
  int c[3];
  cell_at<T>(s, xi, c);
  const int cell = cell_number<T::DIM>(s.grid, c);
  const bool ghosts = active && s.ghost.start && near_border<T::DIM>(s.grid, s.ghost, c);
  const bool any_ghosts = __any_sync(0xffffffffu, ghosts);
  for (int z = -1; z <= 1; ++z) {
    three_rows own = {}, of_ghosts = {};
    if (active) own = rows_around(s.grid.start, cell + z * s.grid.layer, s.grid.row);
    scan_rows<T, STYLE, false>(s, x, xi, i, own, sum, least);
    if (!any_ghosts) continue;
    if (ghosts) of_ghosts = ghost_rows_around(s, cell + z * s.grid.layer);
    scan_rows<T, STYLE, true>(s, x, xi, i, of_ghosts, sum, least);
  }
}

template <class T, int STYLE, bool SCATTERED>
static __global__ void __launch_bounds__(256, 2)
    k_step_cells_3d(const __grid_constant__ system_view<T> s, const __grid_constant__ step_args a, int tile)
{
  progress now;
  if (!begin_step(s, true, now)) return;
  const unsigned parity = now.parity;
  const typename T::record *__restrict__ x = s.x[parity];
  const typename T::real kicks = (typename T::real)(now.done == 0 ? a.first_kicks : a.kicks);
  findings found = {0, 0, 0.0f};
  const unsigned last = (unsigned)s.part.members - 1;
  unsigned k = blockIdx.x * tile * blockDim.x + threadIdx.x;
  typename T::record next = load_record(x + member<SCATTERED>(s, (int)min(k, last)));
  /* All lanes of a warp take the same number of turns, because they share every loop. */
#pragma unroll 1
  for (int t = 0; t < tile && (k & ~31u) <= last; ++t, k += blockDim.x) {
    const bool active = k <= last;
    const int i = member<SCATTERED>(s, (int)min(k, last));
    const typename T::record xi = next;
    if (t + 1 < tile) next = load_record(x + member<SCATTERED>(s, (int)min(k + blockDim.x, last)));
    typename T::real impulse[3], v[3];
    load_velocity(s, i, v);
    const unsigned other = others<SCATTERED>(s, i);
    typename T::sum sum[3];
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) T::clear(sum[d]);
    int least = INT_MAX;
    if (kicks != 0) scan_cells<T, STYLE>(s, x, xi, i, active, sum, least);
    /* Particles of the other part leave only here. If they left earlier, all loads above would wait for `other`; and
     * they are few. */
    if (!active || !is_own(other, i)) continue;
    const destination<T> to = {s.v, i};
    if (least <= s.pair.close_high) {
      merge(found, move_near_particle<T, STYLE, FROM_CELLS>(s, a, kicks, i, to, parity));
      continue;
    }
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) impulse[d] = T::total(sum[d]);
    typename T::record moving = xi;
    move_particle<T, FROM_CELLS>(s, a, kicks, to, moving, v, impulse, parity, found);
  }
  end_step(s.ctl, s.launch, found.bits, slack_after<T>(s, now.usage, found.most));
}

template <class T>
md_status launch_step_cells_3d(const launch &l, md_pair_kind kind, const system_view<T> &s,
                               const step_args &a)
{
  if (s.grid.dense) return launch_step_dense<T>(l, kind, s, a);
  return in_parts(s, [&](const system_view<T> &view, auto scattered) {
    const int tile = std::min(view.part.members / WAVE + 1, TILE);
    return launch_styled(kind, [&](auto style) {
      return launch_early(l, blocks_for(view.part.members, tile * l.threads), "launch of k_step_cells_3d",
                          k_step_cells_3d<T, style.value, scattered.value>, view, a, tile);
    });
  });
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_step_cells_3d<T>(const launch &, md_pair_kind, const system_view<T> &,           \
                                             const step_args &);
INSTANCE(exact3_tagged)
INSTANCE(mixed3_tagged)
