/* A run of n steps: batches of steps and rebins (batches.cuh), and then the kicks that are due at the end of the
 * run.
 *
 * The device rests before and after a run, and `now` is its progress. In between:
 *   1. The host launches batches until two are in flight.
 *   2. The host waits for the older batch and reads its outcome. The batch may have missed steps, because the
 *      slack was used up before. Missed steps are launched again, after the other batch.
 *   3. If a batch has halted, because there was no room or because of an error, the host launches nothing more.
 *      The launches of the other batch return at once. Then the host makes room, or reports the error, and
 *      continues from the progress of the device.
 *
 * After a step that a fix awaits, the host waits for its sums (run_awaited() in run.inc). The device stores the
 * control block into the host's memory, which is sooner there than a copy by the driver. The next such step needs no
 * word to the device before its move.
 *
 * Trade-off: the device need not wait for the host. In return the host never knows the present progress while
 * steps run, and launches some steps that are not taken. Cost: two or three events a batch.
 */
#ifndef MD_GPU_RUN_RUN_CUH
#define MD_GPU_RUN_RUN_CUH

#include "gpu/run/sorting.cuh"

template <class T> struct gpu_run {
  typedef typename T::real real;

  gpu_core<T> &core;
  gpu_rebin<T> &rebin;
  gpu_stepper<T> &stepper;
  gpu_errors<T> &errors;
  gpu_sorting<T> &sorting;
  gpu_batches &batches;
  system_view<T> &view = core.view;

  int64_t steps = 0; /* of all runs */
  /* The number of the next launch after a step of run_awaited(). If it is still that, the next run of one step need not
   * set the progress: the device goes on counting. */
  unsigned goes_on_at = 0;

  /* As in md_engine_kind (common/engine.h). Then the loops over steps of one rank and of several. */
  md_status run(int64_t n);
  md_status run_alone(int64_t n);
  md_status run_ranks(int64_t n);
  /* One step from kept impulses with the sums that are awaited after it, on one rank. */
  md_status run_awaited(md_wanted sums);

  /* A batch is launched without waiting, and finish_batch() waits for it. */
  md_status launch_batch(int64_t left, int64_t *issued);
  md_status finish_batch(progress *reached);
  md_status lap_rebin(const gpu_batch &);

  /* Has the box changed too much for the lists? */
  bool is_strained() const;
  md_status begin_steps();
  md_status finish_kicks();
  bool may_go_on() const;
};

#endif
