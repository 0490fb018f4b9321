/* The arrays for particles, ghosts and lists: how large they are, which array holds what, and where the view points.
 *
 * No array is made for the worst case. Arrays begin with the sizes that gpu/engine/configuration.cu expects. A rebin
 * without enough room says how much it wants, and halts the steps. The host then makes somewhat more room than that,
 * and rebins again. The two position arrays are enlarged one after the other, through the idle one, so that there are
 * never three of them.
 *
 * This part sets the pointers of the view, `room` and the number of particles at a load. The device rests when an array
 * is made or enlarged.
 *
 * Trade-off: little memory is unused. In return a growth waits for the device and copies the contents, but it is
 * rare. Cost: gpu_memory() (gpu/engine/configuration.cu) counts the bytes of a particle, and `myriad plan` prints them.
 */
#ifndef MD_GPU_STORAGE_STORAGE_CUH
#define MD_GPU_STORAGE_STORAGE_CUH

#include "gpu/engine/core.cuh"
#include "gpu/neighbour/launches.cuh"

template <class T> struct gpu_storage {
  typedef typename T::real real;
  typedef typename T::record record;
  static constexpr bool HAS_REST = T::PACKED || T::HAS_COARSE;

  gpu_core<T> &core;
  gpu_arrays &arrays = core.arrays;
  system_view<T> &view = core.view;
  gpu_ranks<T> &ranks = core.ranks;

  /* Size of a position array: the records of particles and ghosts, then the rests of packed layouts or the coarse
   * positions. Kernels may read COARSE_BEYOND coarse positions after the last one. */
  int64_t records() const { return core.room + view.ghost.capacity; }
  int64_t rest_bytes() const
  {
    return HAS_REST ? (core.room + COARSE_BEYOND) * (int64_t)sizeof(typename T::rest) : 0;
  }
  int64_t position_bytes() const { return records() * (int64_t)sizeof(record) + rest_bytes(); }
  void divide_positions();

  /* Makes everything whose size follows from the particles of this rank and their cells; and the parts of that. The
   * view has the grid. */
  md_status make_arrays();
  md_status make_particles();
  md_status make_ghosts(int64_t capacity);
  /* has_few_images(): has a particle at most seven images in the present box, those of a corner? steps_write_images():
   * do the lanes that share a particle write its images in the step? */
  bool has_few_images() const;
  bool steps_write_images() const;
  md_status make_list(int rows);
  md_status make_slopes();
  md_status make_kept();
  md_status make_states();
  md_status make_bonds();
  md_status make_scratch();
  int cell_bits() const;

  /* Make more room: for particles, for ghosts, for neighbours. After grow(), which does what the halts in `now` ask
   * for, cells and lists must be made anew. */
  md_status enlarge_room(int64_t n);
  md_status enlarge_positions(const system_view<T> &before);
  md_status grow_ghosts(int64_t capacity);
  md_status grow_list();
  md_status grow();

  bool counting() const { return core.options.gpu.sort != MD_GPU_SORT_RADIX; }

  /* Four parts of arrays.keys: cells of particles, sorted cells, indices of particles, and indices in the order of
   * cells. */
  unsigned *keys() const { return (unsigned *)arrays.keys.at; }
  unsigned *sorted_keys() const { return keys() + core.room; }
  int *indices() const { return (int *)(keys() + 2 * core.room); }

  /* order()[k] is the index of the particle that is number k in the order of cells. */
  int *order() const { return counting() ? (int *)arrays.spare_origin.at : (int *)(keys() + 3 * core.room); }

  /* Counts that become cursors are stored one entry up: the entry after that of a cell holds its count, and after
   * the prefix sum its cursor, which begins at the first index of the cell. When all particles have got their
   * indices, the cursor is at the end of the cell, which is the beginning of the next cell. So the array then holds
   * the beginnings of cells. */
  int *next_cursor() const { return (int *)arrays.next_start.at + 1; }
  int *ghost_cursor() const
  {
    return arrays.ghost_start.at && !core.several ? (int *)arrays.ghost_start.at + 1 : nullptr;
  }

  /* Where a sort writes the fields. swap_fields(): the spare arrays, which a sort has written, become the present
   * ones, and the present ones become spare. swap_orders() does this for a step that has sorted, beginnings of cells
   * included; a second call undoes the first. */
  moved_fields<T> spare_fields() const;
  void swap_fields();
  void swap_orders();
};

#endif
