/* Steps that sort: a run in which the last two steps before a rebin do its work.
 *
 * This is for plain layouts, without lists and without periodic axes (gpu/engine/configuration.cu). Several ranks do it
 * if their domains are slabs (gpu/ranks/deferred.inc).
 *
 * A rebin moves every particle to its place in the order of cells. A step reads and writes every particle anyway,
 * so that a step can write the particles to their new places. The new places must be known before that step
 * begins:
 *
 *   plain steps      | plain steps (COVER) | counting step | exclusive sum | moving step | plain steps
 *                    ^ copy of progress    ^ host reads the copy           ^ new places are known
 *
 *   1. The host launches a few plain steps less than fitted last time, and a copy of the progress after them.
 *   2. The host launches COVER more plain steps. While these run, it reads the copy, and estimates how many plain
 *      steps still fit before the slack is used up. It repeats this until few steps are left, and launches these.
 *   3. The counting step counts how many particles each cell will hold after the next step. It takes each particle
 *      to be where it would be without an impulse in that step (foreseen_cell() in gpu/step/step_cells_2d.cu). The
 *      difference that the impulse makes counts as slack used.
 *   4. An exclusive sum turns the counts into the first free place of each cell. This is all that is left of a
 *      rebin.
 *   5. The moving step writes every particle to its new place.
 *
 * The device must take the two steps that sort, because all launches after them rely on the new order. If the
 * slack is used up nevertheless, no later launch is taken. Then the host waits, and does an ordinary rebin. On
 * several ranks the host also does an ordinary rebin when particles are due to migrate. All ranks decide alike,
 * because they read the same progress.
 *
 * Trade-off: a sort needs no pass of its own over the particles. In return the beginnings of cells are there twice, and
 * the moving step writes lines in pieces. Cost in bytes, in 2D: 8 a particle for the origins and 16 a cell. An
 * ordinary rebin moves 112 a particle and 8 a cell. A sort takes four events and a copy of 8 KiB.
 */
#ifndef MD_GPU_RUN_SORTING_CUH
#define MD_GPU_RUN_SORTING_CUH

#include "gpu/run/error.cuh"
#include "gpu/run/step.cuh"

/* The outcome of at most one sort is unknown. A sort uses the events of a batch in another way: between begin and
 * stepped are the plain steps, between stepped and end are the two steps that sort, and sorted is recorded after each
 * copy of the control block. */
template <class T> struct gpu_sorting {
  gpu_core<T> &core;
  gpu_storage<T> &storage;
  gpu_rebin<T> &rebin;
  gpu_stepper<T> &stepper;
  gpu_errors<T> &errors;
  gpu_batches &batches;
  gpu_arrays &arrays = core.arrays;
  system_view<T> &view = core.view;
  gpu_ranks<T> &ranks = core.ranks;

  int turn = 0;              /* the slot that is being launched: 0 or 1 of the ring of batches */
  unsigned moved_launch = 0; /* number of the last launch that moves particles to their new places */
  bool unknown = false, untimed = false;
  double each = 0.0;  /* seconds of a plain step */
  double rate = 0.25; /* share of the slack that a step uses */

  /* Runs until n steps are done. */
  md_status run_sorting(int64_t n);

  /* Launches the steps up to the next sort and the steps that sort, or the steps up to the end of the run. *left:
   * steps that the run still needs; becomes smaller by the steps launched. resting: the device rests, no step is
   * under way. *stuck: the slack was used up before, or there is an error, or particles must migrate. */
  md_status launch_to_sort(bool resting, int64_t *left, bool *stuck);
  int64_t steps_to_sort(double usage) const;
  md_status launch_plain(int64_t count);
  md_status launch_sorting_steps();
  bool migration_is_due(int64_t done) const;
  /* note_progress() launches a copy of the progress after the steps launched so far. await_progress() waits for
   * that copy while later steps run. */
  md_status note_progress();
  md_status await_progress(progress *reached);
  md_status time_sort();
  /* Undoes storage.swap_orders() if the device has not taken the step that sorted. The progress has been read. */
  void adopt_order();
};

#endif
