/* Errors of steps: an overlap of two particles, or a runaway.
 *
 *   1. The step only sets a bit of progress.halt, so that a step without an error pays nothing for messages.
 *   2. No later step is taken. So the state is still that of the error.
 *   3. The kernels of gpu/output/diagnose.cu look for the particles. If there are several errors, they name the
 *      particles with the smallest ids. These are the same on any number of ranks and for every engine.
 *
 * Cost: some passes over all pairs, or over all particles, once.
 */
#ifndef MD_GPU_RUN_ERROR_CUH
#define MD_GPU_RUN_ERROR_CUH

#include "gpu/output/launches.cuh"
#include "gpu/run/rebin.cuh"

template <class T> struct gpu_errors {
  gpu_core<T> &core;
  gpu_rebin<T> &rebin;
  gpu_arrays &arrays = core.arrays;
  system_view<T> &view = core.view;
  gpu_ranks<T> &ranks = core.ranks;

  /* The halt of a step as an error, with the particles' ids. later: the step of the error, counted from the model's
   * step. of_step: the impulses of a step were summed, so that the fault may be that of a fix. */
  md_status fault();
  md_status overlap_error(int64_t later, bool of_step);
  md_status find(bool overlap, culprit *found);
};

#endif
