/* The GPU engine, which runs the steps of one rank on one GPU.
 *
 * All data of the particles stay on the device, and the host launches hundreds of steps without waiting for any of
 * them.
 *   1. A rebin wraps the particles, sorts them by cell, makes the ghosts of periodic faces and, where lists pay,
 *      makes lists (gpu/neighbour/bin.cu, gpu/neighbour/sort.cu, gpu/neighbour/cell_start.cu,
 *      gpu/neighbour/periodic_images.cu, gpu/neighbour/list.cu).
 *   2. Steps follow. A step is one kernel (gpu/step/step_*.cu, a fused step), or a force kernel and a move kernel
 *      (gpu/step/force.cu, gpu/step/force_symmetric.cu, gpu/move/move.cu).
 *   3. The steps end when a particle has used up the slack of cells or lists, or when two particles together have
 *      used up what lists allow (gpu/neighbour/list_check.cu). Then the next rebin is due.
 *
 * The host works in batches (gpu/run/batches.cuh): it launches the steps that should fit between two rebins, and the
 * rebin, without waiting. It reads the outcome of a batch only after it has launched the next one. If a step may
 * not be taken any more, its launch returns at once (gpu/particle/progress.cuh). So a wrong guess costs an empty launch
 * and never a result.
 *
 * On several ranks (gpu/ranks/ranks.cuh) the host waits at every rebin, because there particles change their rank and
 * the ranks agree on ghosts. The steps between two rebins are still launched without waiting, each with its
 * exchange of ghosts. All ranks stop at the same step. Where steps sort (gpu/run/sorting.cuh), ranks do not wait
 * for a sort either, and they migrate only now and then (gpu/ranks/deferred.inc).
 *
 * The engine consists of parts. A part uses parts below it, as the lines say, and knows none above it:
 *
 *                      engine
 *                     /      \
 *                  run        |          engine     the interface for the host, beginning and end
 *                  | \        |          run        a run: batches of steps and rebins
 *                  | sorting  |          sorting    a run in which steps do the work of rebins
 *                  |   |    output       output     sums, forces and pictures for the host
 *                  +---+------+
 *                  |          |
 *                error        |          error      which particles an error is about
 *                  |          |
 *                rebin      step         rebin      a rebin; step: one step
 *                  |          |
 *               transfer      |          transfer   particles between host and device
 *                /    \       |
 *        constants    storage-+          constants  of the view; storage: the arrays on the device
 *                \    /
 *                 core                   core       what all parts share
 *                  |
 *              gpu_ranks                 gpu_ranks  the other ranks (gpu/ranks/ranks.cuh)
 *
 * A part is a struct with a header, which has its data, functions and trade-off, and with one or two files .inc, which
 * have the bodies. The part follow, which has the followed particles, stands beside these, on output. The parts run,
 * sorting, error, rebin and step are in run/, storage and transfer in storage/, the others in engine/. All are
 * templates of the layout of particles (gpu/particle/layout.cuh).
 *
 * Trade-off: the device does not wait for the host between two rebins. In return all fields of the particles are there
 * twice, and some launches do nothing.
 */
#ifndef MD_GPU_ENGINE_ENGINE_CUH
#define MD_GPU_ENGINE_ENGINE_CUH

#include "gpu/engine/follow.cuh"
#include "gpu/engine/output.cuh"
#include "gpu/run/run.cuh"

/* The engine of any layout, behind the C interface (common/engine.h). */
struct md_engine {
  virtual ~md_engine() = default;
  virtual md_status start() = 0;
  virtual md_status run(int64_t n) = 0;
  virtual md_status measure(md_wanted, md_measure *) = 0;
  virtual md_status act(const md_action *) = 0;
  virtual md_status download(double *const force[3]) = 0;
  virtual md_status histogram(const md_histogram *, int64_t *sum) = 0;
  virtual md_status distances(const md_distances *, int64_t *count, bool *made) = 0;
  virtual md_status bin_sums(const md_bins *, double *largest, int64_t *sum, bool *made) = 0;
  virtual md_status value_counts(const md_value_counts *, int64_t *count, double range[2], bool *made) = 0;
  virtual md_status environment(const md_environment *, double *each, bool *made) = 0;
  virtual md_status follow(md_follow_set *, const md_follow *, md_follow_pace *pace, md_follow_fault *,
                           bool *made) = 0;
  virtual md_status follow_sums(const md_follow_set *, const md_follow *, const md_follow_sum *,
                                const double *counts, double *largest, md_wide *total) = 0;
  virtual md_status draw(const md_drawing *, md_sight *, bool *made) = 0;
  virtual void report(md_engine_report *) = 0;
};

/* The engine of one layout. The members are in the order of the picture, from below. */
template <class T> struct gpu_engine final : md_engine {
  gpu_core<T> core;
  gpu_constants<T> constants = {core};
  gpu_storage<T> storage = {core};
  gpu_transfer<T> transfer = {core, constants, storage};
  gpu_rebin<T> rebin = {core, storage, transfer};
  gpu_stepper<T> stepper = {core, storage, transfer};
  gpu_errors<T> errors = {core, rebin};
  gpu_output<T> output = {core, transfer, rebin, stepper, errors};
  gpu_follower<T> follower = {core, output};
  gpu_batches batches;
  gpu_sorting<T> sorting = {core, storage, rebin, stepper, errors, batches};
  gpu_run<T> run_loop = {core, rebin, stepper, errors, sorting, batches};
  char description[1024] = "";

  md_status start() override;
  ~gpu_engine() override;
  md_status run(int64_t n) override
  {
    output.forget_environments();
    return run_loop.run(n);
  }
  md_status measure(md_wanted wanted, md_measure *m) override { return output.measure(wanted, m); }
  md_status act(const md_action *action) override { return stepper.owe_action(*action); }
  md_status download(double *const force[3]) override { return output.download(force); }
  md_status histogram(const md_histogram *h, int64_t *sum) override { return output.histogram(h, sum); }
  md_status distances(const md_distances *d, int64_t *count, bool *made) override
  {
    return output.distances(d, count, made);
  }
  md_status bin_sums(const md_bins *b, double *largest, int64_t *sum, bool *made) override
  {
    return output.bin_sums(b, largest, sum, made);
  }
  md_status value_counts(const md_value_counts *c, int64_t *count, double range[2], bool *made) override
  {
    return output.value_counts(c, count, range, made);
  }
  md_status environment(const md_environment *what, double *each, bool *made) override
  {
    return output.environment(what, each, made);
  }
  md_status follow(md_follow_set *set, const md_follow *what, md_follow_pace *pace, md_follow_fault *fault,
                   bool *made) override
  {
    return follower.follow(set, what, pace, fault, made);
  }
  md_status follow_sums(const md_follow_set *set, const md_follow *what, const md_follow_sum *sum,
                        const double *counts, double *largest, md_wide *total) override
  {
    return follower.follow_sums(set, what, sum, counts, largest, total);
  }
  md_status draw(const md_drawing *drawing, md_sight *sight, bool *made) override
  {
    return output.draw(drawing, sight, made);
  }
  void report(md_engine_report *r) override;

  /* Writes the engine's description for the log. */
  void describe();
};

#endif
