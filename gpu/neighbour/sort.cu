/* Sorting: puts the particles into the order of their cells, at a rebin whose work the steps have not done
 * (gpu/run/sorting.cuh).
 *
 * One of two sorts finds the order:
 *   - Counting sort: cell_start.cu gives the first index of each cell, and counting (bin.cu, gpu/ranks/migrate.cu)
 *     stored the number of each particle in its cell. The index of the particle is written there. Which particle of a
 *     cell comes first depends on chance. This is harmless, because no result depends on the order
 *     (common/arithmetic/exact.h).
 *   - Radix sort (CUB): sorts pairs of cell and index. It takes several passes more, but it always gives the same
 *     order.
 *
 * Then a thread for each index fetches its particle with all its fields. Hardly any particle has gone far since the
 * last rebin. So the threads of a warp read from few cache lines, and they write whole ones. The same kernel
 * adds the images of the particle to the ghosts, with their positions, and ends the rebin.
 *
 * If particles stay where they are (`package gpu sorted no`), only their indices are put into that order.
 *
 * Trade-off: one pass is enough, but every field is stored twice. The order takes no memory of its own: it lies
 * where the origins will be written, and each entry is read before it is written. Bytes a particle in 2D: 8 read
 * and 4 written for the order, 40 read and 40 written for moving. A scatter of all fields to their new indices takes
 * a third longer, because it writes parts of cache lines. The radix sort takes 64 to 80 bytes more.
 */
#include "gpu/neighbour/launches.cuh"
#include "gpu/particle/images.cuh"

#include <cub/cub.cuh>
#include <cuda/atomic>

/* How many images of a particle get their indices together, so that one wait serves all: those of a corner. */
template <class T> constexpr int TOGETHER = T::DIM == 3 ? 7 : 3;

/* Adds the images of particle x, whose index is `to`, to the ghosts. */
template <class T, bool TILTS>
static __device__ __forceinline__ void write_images(const system_view<T> &s, typename T::record *records,
                                                    const typename T::particle &x, int to, int *ghost_cursor)
{
  const typename T::record record = record_of<T>(s, x);
  if constexpr (TILTS) {
    each_image<T, TILTS>(s, x, [&](int code, int cell) {
      write_image<T>(s, records, record, to, code, atomicAdd(&ghost_cursor[cell], 1));
    });
  } else {
    unsigned left = images_of<T>(s, x), unwritten = left;
    int done = 0;
    while (left) {
      int g[TOGETHER<T>];
#pragma unroll
      for (int m = 0; m < TOGETHER<T>; ++m)
        if (left) g[m] = atomicAdd(&ghost_cursor[cell_of_image<T>(s, x, next_image(left))], 1);
#pragma unroll
      for (int m = 0; m < TOGETHER<T>; ++m) {
        if (!unwritten) break;
        write_image<T>(s, records, record, to, code_of_image<T::DIM>(next_image(unwritten)), g[m]);
        if (s.ghost.of && g[m] < s.ghost.capacity) s.ghost.of[first_image(to) + done++] = g[m];
      }
    }
    if (s.ghost.of)
      for (; done < IMAGES_MOST; ++done) s.ghost.of[first_image(to) + done] = -1;
  }
}

template <class T, bool TILTS>
static __global__ void __launch_bounds__(256, 6)
    k_reorder(const __grid_constant__ system_view<T> s, int *ghost_cursor, const int *order,
              const __grid_constant__ moved_fields<T> f, bool rebins, progress *outcome)
{
  await_launches();
  progress now = progress_before(s.ctl, s.launch);
  if (outcome && blockIdx.x == 0 && threadIdx.x == 0) *outcome = now;
  now.parity ^= 1u; /* the particles come to the other position array */
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k == 0 && rebins) take_slot(s.ctl, s.launch, rebinned(now), false, false);
  if (k >= s.n) return;
  const int from = order[k];
  typename T::particle x = wrapped<T, TILTS>(s, present_particle<T>(s, from));
  typename T::real v[3];
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) v[d] = s.v[d][from];
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) store_last(f.v[d] + k, v[d]);
  store_last(f.origin + k, f.origin_from[from]);
  const int cell = cell_of<T>(s, x);
  if constexpr (T::TAGGED) set_path(x, -extra_of<T>(s, type_of(x), v));
  store_particle<T>(s, now.parity, k, x);
  if (s.grid.cell_of) s.grid.cell_of[k] = cell;
  if (ghost_cursor) write_images<T, TILTS>(s, s.x[now.parity], x, k, ghost_cursor);
}

template <class T>
md_status launch_reorder(const launch &l, const system_view<T> &s, int *ghost_cursor, const int *order,
                         const moved_fields<T> &f, bool rebins, progress *outcome)
{
  const auto kernel = s.box.by_axis ? k_reorder<T, !T::MIXED> : k_reorder<T, false>;
  return launch_early(l, blocks_for(s.n, l.threads), "launch of k_reorder", kernel, s, ghost_cursor, order, f,
                      rebins, outcome);
}

template <class T> static __global__ void k_index(const __grid_constant__ system_view<T> s, int *order)
{
  await_launches();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const cell_member at = cell_members(s)[i];
  order[s.grid.start[at.cell] + at.rank] = i;
}

template <class T> md_status launch_index(const launch &l, const system_view<T> &s, int *order)
{
  return launch_early(l, blocks_for(s.n, l.threads), "launch of k_index", k_index<T>, s, order);
}

md_status sort_by_cell(const launch &l, int n, int bits, const unsigned *id, unsigned *sorted,
                       const int *index, int *order, void *scratch, size_t *bytes)
{
  MD_CUDA(cub::DeviceRadixSort::SortPairs(scratch, *bytes, id, sorted, index, order, n, 0, bits, l.stream));
  return MD_OK;
}

static __global__ void k_rebinned(control *ctl, unsigned launch, progress *outcome)
{
  if (outcome) *outcome = progress_before(ctl, launch);
  take_slot(ctl, launch, rebinned(after(ctl->slot[(launch - 1u) % SLOTS])), false, false);
}

md_status launch_rebinned(const launch &l, control *ctl, unsigned launch, progress *outcome)
{
  k_rebinned<<<1, 1, 0, l.stream>>>(ctl, launch, outcome);
  MD_LAUNCHED("k_rebinned");
  return MD_OK;
}

static __global__ void k_set_progress(control *ctl, unsigned launch, progress now)
{
  ctl->overflow = 0;
  ctl->ghosts_wanted = ctl->list_wanted = 0;
  for (int w = 0; w < AWAITED_WORDS; ++w) ctl->awaited[w] = 0;
  take_slot(ctl, launch, now, false, false);
}

md_status launch_set_progress(const launch &l, control *ctl, unsigned launch, const progress &now)
{
  k_set_progress<<<1, 1, 0, l.stream>>>(ctl, launch, now);
  MD_LAUNCHED("k_set_progress");
  return MD_OK;
}

/* One block. The number is stored after the copy, also as the host sees it. */
static __global__ void k_report_progress(const control *ctl, control *copy, uint32_t *arrived,
                                         uint32_t number)
{
  await_launches();
  static_assert(sizeof *ctl % sizeof(int4) == 0, "whole words are copied");
  for (unsigned w = threadIdx.x; w < sizeof *ctl / sizeof(int4); w += blockDim.x)
    ((int4 *)copy)[w] = ((const int4 *)ctl)[w];
  __syncthreads();
  if (threadIdx.x == 0)
    cuda::atomic_ref<uint32_t, cuda::thread_scope_system>(*arrived).store(number, cuda::memory_order_release);
}

md_status launch_report_progress(const launch &l, const control *ctl, control *copy, uint32_t *arrived,
                                 uint32_t number)
{
  return launch_early(l, 1, "launch of k_report_progress", k_report_progress, ctl, copy, arrived, number);
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_index<T>(const launch &, const system_view<T> &, int *);                         \
  template md_status launch_reorder<T>(const launch &, const system_view<T> &, int *, const int *,           \
                                       const moved_fields<T> &, bool, progress *);
MD_LAYOUTS(INSTANCE)
