/* Arrays as large as particles, ghosts and lists: made at the start, and made larger when a rebin finds that something
 * does not fit.
 *
 * Nothing is made for the worst case: arrays begin as large as choice.cu expects. A rebin that is short of room says how
 * much it wants, and halts the steps; the host makes somewhat more than that, and rebins again. Positions are enlarged one
 * array after the other, through the idle one, so that there are never three of them.
 *
 * Cost: bytes a particle are those of gpu_memory() (choice.cu), which `myriad plan` prints. Growing is rare; it waits for
 * the device, and copies what is there.
 */
#ifndef MD_GPU_ENGINE_ARRAYS_CUH
#define MD_GPU_ENGINE_ARRAYS_CUH

#include "gpu/engine.cuh"

template <class T> void gpu_engine<T>::place_positions()
{
  for (int k = 0; k < 2; ++k) {
    view.x[k] = (record *)a.x[k].at;
    if (HAS_REST) view.rest[k] = (typename T::rest *)(view.x[k] + records());
  }
}

template <class T> md_status gpu_engine<T>::make_particles()
{
  const int64_t n = room;
  for (int k = 0; k < 2; ++k) MD_TRY(make(&a.x[k], position_bytes(), "positions"));
  place_positions();
  for (int d = 0; d < T::DIM; ++d) {
    MD_TRY(make(&a.v[d], n * (int64_t)sizeof(real), "velocities"));
    view.v[d] = (real *)a.v[d].at;
  }
  for (int d = 0; d < T::DIM; ++d) MD_TRY(make(&a.spare[d], n * (int64_t)sizeof(real), "velocities"));
  for (int d = 0; d < T::DIM && T::WIDENS && model->wide; ++d) {
    MD_TRY(make(&a.v_low[d], n * 8, "second words of momenta"));
    ranks.low[d] = (int64_t *)a.v_low[d].at;
  }
  MD_TRY(make(&a.origin, n * 4, "origins"));
  MD_TRY(make(&a.spare_origin, n * 4, "origins"));
  step.origin = (const int *)a.origin.at;
  if (options.gpu.staged) {
    MD_TRY(make(&a.cell, n * 4, "cells of particles"));
    view.cell = (int *)a.cell.at;
  }
  if (options.gpu.sort == MD_GPU_SORT_RADIX) MD_TRY(make(&a.keys, n * 16, "keys of the radix sort"));
  return MD_OK;
}

template <class T> md_status gpu_engine<T>::make_ghosts(int64_t capacity)
{
  const int64_t most = INT32_MAX - 64 - room;
  if (capacity > most)
    return md_error(MD_RUNTIME, "one GPU holds at most %lld particles and ghosts, not %lld; use more ranks",
                    (long long)MD_PARTICLES_MAX, (long long)(room + capacity));
  view.ghost.capacity = (int)capacity;
  MD_TRY(make(&a.ghost_owner, capacity * 4, "ghosts"));
  MD_TRY(make(&a.ghost_shift, capacity * 4, "ghosts"));
  MD_TRY(make(&a.ghost_start, bytes_of_starts(view.grid.total - view.ghost.folded), "cells of ghosts"));
  view.ghost.owner = (int *)a.ghost_owner.at;
  view.ghost.shift = (int *)a.ghost_shift.at;
  view.ghost.start = (const int *)a.ghost_start.at;
  return MD_OK;
}

template <class T> md_status gpu_engine<T>::make_list(int rows)
{
  const int64_t blocks = (room + 31) / 32;
  view.stride = rows;
  MD_TRY(make(&a.list, blocks * 32 * 16 * rows, "neighbour lists"));
  MD_TRY(make(&a.rows, blocks * 4, "neighbour lists"));
  view.list = (int4 *)a.list.at;
  view.rows = (int *)a.rows.at;
  return MD_OK;
}

template <class T> int gpu_engine<T>::cell_bits() const
{
  int bits = 1;
  while ((INT64_C(1) << bits) < view.grid.total) ++bits;
  return bits;
}

/* CUB's scratch for the sorts and scans of this size. */
template <class T> md_status gpu_engine<T>::make_scratch()
{
  size_t most = 0, bytes = 0;
  MD_TRY(scan_counts(wide, (int64_t)view.grid.total + 1, nullptr, nullptr, &most));
  if (options.gpu.sort == MD_GPU_SORT_RADIX) {
    MD_TRY(sort_by_cell(wide, (int)room, cell_bits(), nullptr, nullptr, nullptr, nullptr, nullptr, &bytes));
    most = std::max(most, bytes);
  }
  return make(&a.scratch, (int64_t)most + 256, "scratch for sorting");
}

template <class T> md_status gpu_engine<T>::make_arrays()
{
  view.n = (int)p->n;
  room = std::max<int64_t>(room, several ? p->n + p->n / 16 + 4096 : p->n);
  MD_TRY(set_grid());
  if (source != FROM_ALL) {
    MD_TRY(make(&a.start, bytes_of_starts(view.grid.total), "cells"));
    view.start = (const int *)a.start.at;
    if (steps_sort())
      MD_TRY(make(&a.next_start, bytes_of_starts(view.grid.total), "cells of the next order"));
    const int64_t ghosts = several ? ranks.expected_ghosts(room) : choice.ghosts;
    if (ghosts > 0) MD_TRY(make_ghosts(std::max<int64_t>(ghosts, view.ghost.capacity)));
  }
  MD_TRY(make_particles());
  if (source != FROM_ALL) MD_TRY(make_scratch());
  if (source == FROM_LIST) MD_TRY(make_list(choice.rows));
  if (choice.beyond > 0.0) MD_TRY(make(&a.strays, MOST_STRAYS * 4, "particles beyond the slack"));
  view.strays = (int *)a.strays.at;
  return MD_OK;
}

/* Positions for `room` particles and the ghosts there is room for, after `before`; the idle array holds nothing of
 * worth. */
template <class T> md_status gpu_engine<T>::enlarge_positions(const system_view<T> &before)
{
  const unsigned idle = now.parity ^ 1u, present = now.parity;
  md_device_free(&memory, &a.x[idle]);
  MD_TRY(make(&a.x[idle], position_bytes(), "positions"));
  place_positions();
  MD_CUDA(cudaMemcpyAsync(view.x[idle], before.x[present], (size_t)view.n * sizeof(record),
                          cudaMemcpyDeviceToDevice, stream));
  if (HAS_REST)
    MD_CUDA(cudaMemcpyAsync(view.rest[idle], before.rest[present], (size_t)view.n * sizeof(typename T::rest),
                            cudaMemcpyDeviceToDevice, stream));
  MD_CUDA(cudaStreamSynchronize(stream));
  md_device_free(&memory, &a.x[present]);
  MD_TRY(make(&a.x[present], position_bytes(), "positions"));
  place_positions();
  now.parity = idle;
  return put_progress();
}

/* Room for `n` particles, more than there was. The device rests. */
template <class T> md_status gpu_engine<T>::enlarge_room(int64_t n)
{
  const system_view<T> before = view;
  room = n + n / 16 + 4096;
  MD_TRY(enlarge_positions(before));
  for (int d = 0; d < T::DIM; ++d)
    MD_TRY(enlarge(&a.v[d], room * (int64_t)sizeof(real), view.n * (int64_t)sizeof(real), "velocities"));
  MD_TRY(enlarge(&a.origin, room * 4, view.n * INT64_C(4), "origins"));
  MD_TRY(ranks.enlarge_ids(room));
  for (int d = 0; d < T::DIM && a.v_low[0].at; ++d)
    MD_TRY(enlarge(&a.v_low[d], room * 8, ranks.next_origin * INT64_C(8), "second words of momenta"));
  step.id = (const int64_t *)ranks.id.at;
  MD_TRY(make_particles());
  MD_TRY(make_scratch());
  return source == FROM_LIST ? make_list(choice.rows) : MD_OK;
}

template <class T> md_status gpu_engine<T>::grow_ghosts(int64_t capacity)
{
  const system_view<T> before = view;
  MD_TRY(make_ghosts(capacity));
  return enlarge_positions(before);
}

template <class T> md_status gpu_engine<T>::grow_list()
{
  choice.rows = (list_wanted + list_wanted / 16 + 3) / 4 + 1;
  md_device_free(&memory, &a.list);
  return make_list(choice.rows);
}

/* Makes room for ghosts or neighbours that did not fit. The device rests. */
template <class T> md_status gpu_engine<T>::grow()
{
  if (now.halt & HALT_GHOSTS) {
    const int64_t wanted = ghosts_wanted + (int64_t)ghosts_wanted / 8;
    MD_TRY(grow_ghosts(std::max<int64_t>(wanted, view.ghost.capacity)));
  }
  if (now.halt & HALT_LIST) MD_TRY(grow_list());
  now.halt &= ~(unsigned)(HALT_GHOSTS | HALT_LIST);
  built = false;
  return put_progress();
}

#endif
