/* A rebin: wraps the particles, sorts them by cell, and makes the ghosts of periodic faces and the lists.
 *
 *   1. bin counts the particles of each cell, and cell_start makes `cell_start` from the counts (or both come from
 *      a radix sort; gpu/neighbour/sort.cu describes the two sorts).
 *   2. The sort writes all fields into the idle position array and the spare arrays, which then become the present
 *      ones. The progress is changed, because the present positions are now in the other array. On one rank the sort
 *      also writes the ghosts.
 *   3. Lists follow, on several ranks after the ghosts.
 *
 * Where particles are few, one kernel does all of this (gpu/neighbour/rebin_few.cu).
 *
 * launch_rebin() does this without waiting. Whether everything had room is known from the outcome of the next
 * batch. ensure_neighbours() waits, makes room, and repeats the rebin until everything has room. On several ranks a
 * rebin waits for what comes from other ranks (rebin_ranks.inc).
 *
 * If particles are to stay where they are (`package gpu sorted no`), a rebin makes only the order of cells, as
 * indices. Some kernels need sorted particles all the same, for example those that measure. For them a sorted copy
 * is made in the spare arrays.
 *
 * Cost: timed() is told the bytes of each kernel. `package gpu profile yes` prints them beside the times.
 */
#ifndef MD_GPU_RUN_REBIN_CUH
#define MD_GPU_RUN_REBIN_CUH

#include "gpu/neighbour/launches.cuh"
#include "gpu/run/batches.cuh"
#include "gpu/storage/transfer.cuh"

template <class T> struct gpu_rebin {
  typedef typename T::real real;
  typedef typename T::record record;

  gpu_core<T> &core;
  gpu_storage<T> &storage;
  gpu_transfer<T> &transfer;
  gpu_arrays &arrays = core.arrays;
  system_view<T> &view = core.view;
  gpu_ranks<T> &ranks = core.ranks;

  /* Are cells, ghosts and lists those of a rebin that had room for all? false: the next run begins with a rebin.
   * Whether they still hold where particles have gone since, core.now.stale says. */
  bool structure_fits = false;
  bool cells_counted = false;  /* has a migration already counted the particles in their cells? */
  bool own_rounded = false;    /* have the positions of own particles been rounded for the next lists? */
  bool migrants_asked = false; /* have the migrants of the next rebin been asked for? */
  bool lists_apart = true;     /* were lists a launch of their own in the last rebin of one rank? */
  rebin_interval interval;
  int64_t rebins = 0;      /* also counts the sorts that steps did */
  int64_t sorts = 0;       /* on several ranks: sorts that steps did since the last migration */
  int64_t balanced_at = 0; /* step at which the ranks last checked the balance */
  int64_t known_recut = 0; /* comm->recut of the cuts that the domains have */

  /* launch_rebin() launches a rebin. sorted: recorded between the sort and the lists if these are apart, or NULL.
   * outcome: where the progress before the rebin is written, in pinned memory, or NULL. make_structure()
   * repeats rebins until everything has room. fit_neighbours() also learns from the end of lists or cells;
   * `now` is the present progress. ensure_neighbours() reads the progress first and then does the same. */
  md_status launch_rebin(cudaEvent_t sorted, progress *outcome);
  md_status launch_in_box(cudaEvent_t sorted, progress *outcome);
  md_status make_structure();
  md_status fit_neighbours();
  md_status ensure_neighbours();

  /* The beginnings of cells; the order of cells; and particles moved into that order. */
  md_status sum_counts(int *counts, int64_t n, int *others = nullptr);
  md_status order_cells(unsigned *ids);
  md_status index_particles();
  md_status sort_into_spare(bool rebins, progress *outcome);
  md_status sort_particles(progress *outcome);
  md_status sorted_view(system_view<T> *s, const int **origin);
  /* Is a rebin one launch (gpu/neighbour/rebin_few.cu)? rebin_few() launches it. */
  bool takes_one_launch() const;
  md_status rebin_few(progress *outcome);
  md_status build_list(rounded_part left);
  md_status find_partners();
  md_status leave_molecules_out();

  /* ---- gpu/run/rebin_ranks.inc: the parts of a rebin of several ranks, in this order ---- */

  md_status rebin_ranks();
  md_status balance_if_due();
  md_status ask_migrants();
  md_status migrate();
  md_status count_particles(bool *again);
  md_status round_own();
  md_status make_halo();
  md_status spread_ids_of_partners();
};

#endif
