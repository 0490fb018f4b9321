/* A rebin: particles into the order of their cells, ghosts of periodic faces, neighbour lists.
 *
 * bin, cell_start and sort make the order (sort.cu has the two ways to it), with all fields going into spare arrays, which
 * then change places with the others. Positions are now in what was the idle array, which the progress must know. Ghosts
 * and lists follow. launch_rebin() does this without waiting, and whether everything fitted is seen with the outcome of the
 * next cycle; settle_structure() waits, and makes room, until it does.
 *
 * If particles are to stay where they are (`package gpu sorted no`), all that is made is the order, as indices; what needs
 * sorted particles all the same, such as measuring, makes a sorted copy in the spare arrays.
 *
 * Cost: what timed() is told of each kernel, in bytes; `package gpu profile yes` prints that beside the times.
 */
#ifndef MD_GPU_ENGINE_REBIN_CUH
#define MD_GPU_ENGINE_REBIN_CUH

#include "gpu/engine.cuh"

#include <utility>

/* Extras of lists are for so many of the intervals that are reached: collisions make fast particles of slow ones, so
 * that lists never last as long as their velocities promise. */
static const double FORESIGHT = 1.4;

/* Counts of cells become the first place of each. */
template <class T> md_status gpu_engine<T>::sum_counts(int *counts, int64_t n)
{
  size_t bytes = (size_t)a.scratch.bytes;
  return timed("cell_start", (double)n * 8.0,
               [&] { return scan_counts(wide, n, counts, a.scratch.at, &bytes); });
}

/* Where each cell begins, and each particle's place in its cell, or, by a radix sort, the order itself; ids: where that may
 * leave the cells. */
template <class T> md_status gpu_engine<T>::order_cells(unsigned *ids)
{
  const double n = (double)view.n, cells = (double)view.grid.total;
  size_t bytes = (size_t)a.scratch.bytes;
  const size_t start_bytes = (size_t)bytes_of_starts(view.grid.total);
  if (!counted) {
    MD_CUDA(cudaMemsetAsync(a.start.at, 0, start_bytes, stream));
    if (ghost_cursor()) MD_CUDA(cudaMemsetAsync(a.ghost_start.at, 0, start_bytes, stream));
    MD_TRY(timed("bin", n * (READ + 8.0), [&] {
      return launch_bin<T>(wide, view, (int *)a.start.at, ghost_cursor(), counting() ? nullptr : ids,
                           counting() ? nullptr : indices());
    }));
  }
  counted = false;
  if (ghost_cursor()) MD_TRY(sum_counts(ghost_cursor(), view.grid.total));
  if (counting()) return sum_counts((int *)a.start.at, (int64_t)view.grid.total + 1);
  MD_TRY(timed("sort", n * 4.0 * 16.0, [&] {
    return sort_by_cell(wide, view.n, cell_bits(), ids, sorted_keys(), indices(), order(), a.scratch.at,
                        &bytes);
  }));
  return timed("cell_start", n * 4.0 + cells * 4.0, [&] {
    return launch_fill_starts(wide, view.n, view.grid.total, sorted_keys(), (int *)a.start.at);
  });
}

/* The order of cells, while particles stay where they are. */
template <class T> md_status gpu_engine<T>::index_particles()
{
  MD_TRY(order_cells(keys()));
  if (!counting()) return MD_OK;
  return timed("sort", (double)view.n * 12.0 + view.grid.total * 4.0,
               [&] { return launch_index<T>(wide, view, order()); });
}

template <class T> moved_fields<T> gpu_engine<T>::spare_fields() const
{
  moved_fields<T> fields = {};
  for (int d = 0; d < T::DIM; ++d) fields.v[d] = (real *)a.spare[d].at;
  fields.origin = (int *)a.spare_origin.at;
  fields.origin_from = (const int *)a.origin.at;
  return fields;
}

/* Particles in the order of their cells: into the idle position array and the spare arrays. */
template <class T> md_status gpu_engine<T>::sort_into_spare()
{
  const moved_fields<T> fields = spare_fields();
  const double n = (double)view.n;
  const double others = T::DIM * sizeof(real) + 4.0;
  const double moved = n * (READ + WRITTEN + 2.0 * others + (view.cell ? 4.0 : 0.0));
  MD_TRY(index_particles());
  return timed("reorder", moved + 4.0 * n,
               [&] { return launch_reorder<T>(wide, view, ghost_cursor(), order(), fields); });
}

template <class T> void gpu_engine<T>::swap_fields()
{
  for (int d = 0; d < T::DIM; ++d) {
    std::swap(a.spare[d], a.v[d]);
    view.v[d] = (real *)a.v[d].at;
  }
  std::swap(a.spare_origin, a.origin);
  step.origin = (const int *)a.origin.at;
}

template <class T> md_status gpu_engine<T>::sort_particles()
{
  view.foresight = (float)(FORESIGHT * interval.steps * model->dt);
  MD_TRY(sort_into_spare());
  swap_fields();
  return MD_OK;
}

/* For kernels that need particles in the order of cells: the view, or if particles are not moved, one of a copy that
 * is, which takes the place of cells and order. The device rests. */
template <class T> md_status gpu_engine<T>::sorted_view(system_view<T> *s, const int **origin)
{
  *s = view;
  *origin = step.origin;
  if (!options.gpu.unsorted) return MD_OK;
  built = false;
  MD_TRY(sort_into_spare());
  s->x[0] = s->x[1] = view.x[now.parity ^ 1u];
  for (int d = 0; d < T::DIM; ++d) s->v[d] = (real *)a.spare[d].at;
  *origin = (const int *)a.spare_origin.at;
  return MD_OK;
}

template <class T> md_status gpu_engine<T>::update_halo()
{
  if (!view.ghost.start) return MD_OK;
  if (several)
    return timed("halo", (double)ranks.ghosts * (4.0 * sizeof(record) + 8.0), [&]() -> md_status {
      MD_TRY(ranks.refresh_messages(view, wide, false));
      return ranks.refresh_images(view, wide, false);
    });
  return timed("halo", (double)choice.ghosts * (2.0 * sizeof(record) + 8.0),
               [&] { return launch_halo<T>(wide, view); });
}

template <class T> md_status gpu_engine<T>::build_list()
{
  if constexpr (T::TAGGED)
    if (source == FROM_LIST)
      return timed("list", (double)view.n * (16.0 * choice.rows + 2.0 * sizeof(record) + 32.0),
                   [&] { return launch_list<T>(wide, view); });
  return MD_OK;
}

/* Launches a rebin. It may end with ghosts or lists that did not fit: halt then says so. */
template <class T> md_status gpu_engine<T>::launch_rebin(gpu_cycle *c)
{
  if (source == FROM_ALL) return MD_OK;
  if (several) return rebin_ranks();
  const bool moves = !options.gpu.unsorted;
  MD_TRY(moves ? sort_particles() : index_particles());
  MD_TRY(launch_rebinned(wide, view.ctl, view.launch, moves));
  ++view.launch;
  MD_TRY(update_halo());
  if (c) MD_CUDA(cudaEventRecord(c->sorted, stream));
  MD_TRY(build_list());
  built = true;
  interval.since = 0;
  ++rebins;
  return MD_OK;
}

/* Makes cells, lists and ghosts fit the present positions, however often it takes. The device rests before, where `now` says,
 * and afterwards. */
template <class T> md_status gpu_engine<T>::make_structure()
{
  while (!built || now.stale || now.halt) {
    if (now.halt & (HALT_GHOSTS | HALT_LIST)) MD_TRY(grow());
    const double mark = md_time();
    MD_TRY(launch_rebin(nullptr));
    MD_TRY(look());
    interval.binned_at = now.done;
    if (!several) timers.seconds[MD_PHASE_SORT] += md_time() - mark;
  }
  return MD_OK;
}

template <class T> md_status gpu_engine<T>::settle_structure()
{
  MD_TRY(look());
  if (source == FROM_ALL) return MD_OK;
  /* Unless the end of a cycle has taught it already. */
  if (now.stale && now.done > interval.binned_at) interval.learn(now);
  return make_structure();
}

#endif
