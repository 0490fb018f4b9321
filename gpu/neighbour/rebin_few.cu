/* A rebin in one launch, where particles are few: sort, ghosts and lists of tagged layouts in three dimensions, as of
 * bin.cu, cell_start.cu, sort.cu and list.cu.
 *
 * A launch takes longer than any of these parts. So the threads stay, each with its particle, and between two parts
 * all blocks meet at a barrier (gpu/particle/grid_barrier.cuh):
 *
 *   1. All counts are set to 0.
 *   2. Each particle is added to its cell, and each of its images to another one. The count of the cell before tells
 *      their places in these cells.
 *   3. One block turns the counts of particles into the first particle of each cell, and another block does the same
 *      for ghosts.
 *   4. Each particle is written to its place, and each image. Their positions in single precision go to the idle
 *      position array.
 *   5. Groups of lanes make the lists (group_search.cuh).
 *
 * Trade-off: fields are scattered, not gathered, because all of them are in L2. A thread keeps a particle from the
 * second to the fourth part, so that there may be at most as many particles as threads on the device (are_few()
 * in gpu/particle/launch.cuh). A particle has at most seven images. Cost: four barriers, and that of group_search.cuh.
 * docs/history.md has the measurements.
 */
#include "gpu/neighbour/group_search.cuh"
#include "gpu/neighbour/launches.cuh"
#include "gpu/neighbour/prefix_sum.cuh"
#include "gpu/particle/grid_barrier.cuh"
#include "gpu/particle/images.cuh"
#include "gpu/sums/launches.cuh"

#include <algorithm>

/* The most images of a particle. */
constexpr int IMAGES_OF_CORNER = 7;

/* A particle on its way to its new place. */
template <class T> struct moved_particle {
  typename T::particle x;
  typename T::real v[3];
  int origin, cell, rank;
  unsigned images;             /* images_of() */
  int place[IMAGES_OF_CORNER]; /* of each image in its cell */
};

template <class T>
static __device__ __forceinline__ moved_particle<T>
load_moved(const system_view<T> &s, const moved_fields<T> &f, unsigned parity, int i)
{
  moved_particle<T> m;
  m.x = wrapped<T, false>(s, load_particle<T>(s, parity, i));
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) m.v[d] = s.v[d][i];
  m.origin = f.origin_from[i];
  m.cell = cell_of<T>(s, m.x);
  m.images = s.ghost.start ? images_of<T>(s, m.x) : 0;
  return m;
}

/* Adds the particle and its images to their cells. */
template <class T>
static __device__ __forceinline__ void join_cells(const system_view<T> &s, moved_particle<T> &m, int *count,
                                                  int *ghost_count)
{
  m.rank = atomicAdd(&count[m.cell], 1);
  unsigned left = m.images;
#pragma unroll
  for (int k = 0; k < IMAGES_OF_CORNER; ++k)
    if (left) m.place[k] = atomicAdd(&ghost_count[cell_of_image<T>(s, m.x, next_image(left))], 1);
}

/* Writes the images of the particle whose new index is `to`. All beginnings of cells are loaded first, so that one wait
 * serves all images. */
template <class T>
static __device__ __forceinline__ void write_images(const system_view<T> &s, const moved_particle<T> &m,
                                                    int to, unsigned parity)
{
  float4 *rounded = (float4 *)s.x[parity ^ 1u];
  const typename T::record record = record_of<T>(s, m.x);
  int g[IMAGES_OF_CORNER];
  unsigned left = m.images, unwritten = left;
#pragma unroll
  for (int k = 0; k < IMAGES_OF_CORNER; ++k)
    g[k] = left ? s.ghost.start[cell_of_image<T>(s, m.x, next_image(left))] + m.place[k] : -1;
#pragma unroll
  for (int k = 0; k < IMAGES_OF_CORNER; ++k) {
    if (s.ghost.of) s.ghost.of[first_image(to) + k] = g[k] < s.ghost.capacity ? g[k] : -1;
    if (!unwritten) continue;
    const int code = code_of_image<T::DIM>(next_image(unwritten));
    write_image<T>(s, s.x[parity], record, to, code, g[k]);
    if (g[k] < s.ghost.capacity) rounded[s.n + g[k]] = rounded_position<T>(s, m.x, code);
  }
  if (s.ghost.of) s.ghost.of[first_image(to) + IMAGES_OF_CORNER] = -1;
}

/* Writes the particle to its place, and its images. parity: of the array that has the positions then. */
template <class T>
static __device__ __forceinline__ void write_moved(const system_view<T> &s, const moved_fields<T> &f,
                                                   moved_particle<T> &m, unsigned parity)
{
  const int to = s.grid.start[m.cell] + m.rank;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) f.v[d][to] = m.v[d];
  f.origin[to] = m.origin;
  set_path(m.x, -extra_of<T>(s, type_of(m.x), m.v));
  store_particle<T>(s, parity, to, m.x);
  ((float4 *)s.x[parity ^ 1u])[to] = rounded_position<T>(s, m.x, NO_SHIFT);
  if (s.ghost.start) write_images(s, m, to, parity);
}

template <class T, int GROUP>
static __global__ void __launch_bounds__(32 * GROUP, 1024 / (32 * GROUP))
    k_rebin_few(const __grid_constant__ system_view<T> s, int *start, int *ghost_start,
                const __grid_constant__ moved_fields<T> f, float reach, progress *outcome)
{
  __shared__ group_tile<GROUP> tile;
  constexpr int THREADS = 32 * GROUP, EACH = 8;
  await_launches();
  progress now = progress_before(s.ctl, s.launch);
  const bool reports = blockIdx.x == 0 && threadIdx.x == 0;
  if (reports && outcome) *outcome = now;
  now = rebinned(now);
  for (int c = blockIdx.x * THREADS + threadIdx.x; c <= s.grid.total + 1; c += gridDim.x * THREADS) {
    start[c] = 0;
    if (ghost_start) ghost_start[c] = 0;
  }
  /* Particles are spread over all blocks. */
  const int each = (s.n + gridDim.x - 1) / gridDim.x, i = blockIdx.x * each + threadIdx.x;
  const bool own = (int)threadIdx.x < each && i < s.n;
  moved_particle<T> m = {};
  if (own) m = load_moved<T>(s, f, now.parity, i);
  await_blocks(s.ctl, s.launch, 1, false);
  if (own) join_cells<T>(s, m, start, ghost_start);
  await_blocks(s.ctl, s.launch, 2, false);
  if (blockIdx.x == 0) sum_by_block<THREADS, EACH>(start, s.grid.total + 1);
  if (blockIdx.x == gridDim.x - 1 && ghost_start) sum_by_block<THREADS, EACH>(ghost_start, s.grid.total + 1);
  await_blocks(s.ctl, s.launch, 3, false);
  now.parity ^= 1u; /* the particles come to the other position array */
  if (own) write_moved<T>(s, f, m, now.parity);
  await_blocks(s.ctl, s.launch, 4, false);
  for (int block = blockIdx.x; block * 32 < s.n; block += gridDim.x)
    make_lists_by_groups<T, GROUP>(s, now.parity, block, reach, tile);
  if (reports) take_slot(s.ctl, s.launch, now, false, false);
}

template <class T, int GROUP>
static md_status launch_groups(const launch &l, const system_view<T> &s, int *start, int *ghost_start,
                               const moved_fields<T> &f, progress *outcome)
{
  const int room = l.processors * (1024 / (32 * GROUP));
  return launch_together(of_threads(l, 32 * GROUP), std::min(blocks_for(s.n, 32), room),
                         "launch of k_rebin_few", k_rebin_few<T, GROUP>, s, start, ghost_start, f,
                         list_reach(s), outcome);
}

/* A block of large groups makes its lists sooner, but small groups take fewer instructions. So large groups are for so
 * few particles that no block makes more than two times 32 lists. */
template <class T>
md_status launch_rebin_few(const launch &l, const system_view<T> &s, int *start, int *ghost_start,
                           const moved_fields<T> &f, progress *outcome)
{
  if (blocks_for(s.n, 32) <= 2 * l.processors)
    return launch_groups<T, 32>(l, s, start, ghost_start, f, outcome);
  return launch_groups<T, 8>(l, s, start, ghost_start, f, outcome);
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_rebin_few<T>(const launch &, const system_view<T> &, int *, int *,               \
                                         const moved_fields<T> &, progress *);
INSTANCE(exact3_tagged)
INSTANCE(exact3_packed)
INSTANCE(mixed3_tagged)
