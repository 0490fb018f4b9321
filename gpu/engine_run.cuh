/* A run of n steps: cycles of steps and a rebin (cycles.cuh), and the kicks that are due at its end.
 *
 * Before and after a run the device rests, and `now` is where it stands. In between two cycles are in flight. Steps that a
 * cycle did not take, as the slack was used up before, are launched again behind the other one. When a cycle has halted,
 * for want of room or by an error, nothing is launched until the other has come back, empty; then the host makes room, or
 * reports the error, and goes on from where the device is.
 *
 * Trade-off: while steps run the host never knows the present, and so launches some that are not taken; in return the
 * device need not wait for it. Cost: four events and a copy of 4 KiB a cycle.
 */
#ifndef MD_GPU_ENGINE_RUN_CUH
#define MD_GPU_ENGINE_RUN_CUH

#include "gpu/engine.cuh"

/* Where things stand, with the device at rest. */
template <class T> md_status gpu_engine<T>::look()
{
  control *seen = cycles.resting().seen;
  MD_CUDA(cudaMemcpyAsync(seen, view.ctl, sizeof *seen, cudaMemcpyDeviceToHost, stream));
  MD_CUDA(cudaStreamSynchronize(stream));
  now = progress_of(*seen, view.launch);
  ghosts_wanted = seen->ghosts_wanted;
  list_wanted = seen->list_wanted;
  return MD_OK;
}

template <class T> md_status gpu_engine<T>::put_progress()
{
  MD_TRY(launch_set_progress(wide, view.ctl, view.launch, now));
  ++view.launch;
  return MD_OK;
}

template <class T> md_status gpu_engine<T>::lap(md_phase phase, cudaEvent_t from, cudaEvent_t to)
{
  float ms = 0.0f;
  MD_CUDA(cudaEventElapsedTime(&ms, from, to));
  timers.seconds[phase] += 1e-3 * (double)ms;
  return MD_OK;
}

template <class T> md_status gpu_engine<T>::launch_cycle(int64_t left, int64_t *issued)
{
  gpu_cycle &c = cycles.next();
  const int64_t count = interval.next(left);
  MD_CUDA(cudaEventRecord(c.begin, stream));
  for (int64_t k = 0; k < count; ++k) MD_TRY(launch_step());
  interval.since += count;
  *issued += count;
  c.issued = *issued;
  c.rebins = interval.over() && source != FROM_ALL;
  MD_CUDA(cudaEventRecord(c.stepped, stream));
  MD_CUDA(cudaMemcpyAsync(c.seen, view.ctl, sizeof *c.seen, cudaMemcpyDeviceToHost, stream));
  c.launch = view.launch;
  if (c.rebins) {
    MD_TRY(launch_rebin(&c));
    if (!choice.fused && !options.gpu.unsorted) now.parity ^= 1u; /* impulses must stay out of the way */
  }
  if (source == FROM_ALL) interval.since = 0;
  MD_CUDA(cudaEventRecord(c.end, stream));
  ++cycles.in_flight;
  return MD_OK;
}

/* Waits for the oldest cycle in flight and learns from it. */
template <class T> md_status gpu_engine<T>::finish_cycle(progress *seen)
{
  const gpu_cycle &c = cycles.oldest();
  MD_TRY(cycles.finish_oldest());
  *seen = progress_of(*c.seen, c.launch);
  MD_TRY(lap(MD_PHASE_FORCE, c.begin, c.stepped));
  if (c.rebins) {
    MD_TRY(lap(MD_PHASE_SORT, c.stepped, c.sorted));
    MD_TRY(lap(MD_PHASE_LIST, c.sorted, c.end));
    interval.learn(*seen);
    interval.binned_at = seen->done;
  }
  return MD_OK;
}

/* Steps until done, in cycles of steps and a rebin that are launched before the outcome of the last is known. */
template <class T> md_status gpu_engine<T>::run_alone(int64_t n)
{
  int64_t issued = 0;
  bool halted = false;
  while (now.done < n) {
    while (cycles.have_room() && issued < n && !halted) MD_TRY(launch_cycle(n - issued, &issued));
    const gpu_cycle &c = cycles.oldest();
    progress seen;
    MD_TRY(finish_cycle(&seen));
    halted = seen.halt != 0;
    const int64_t missed = c.issued - seen.done;
    issued -= missed;
    cycles.take_back(missed);
    if (cycles.in_flight > 0) continue;
    MD_TRY(look());
    if (now.halt & (HALT_OVERLAP | HALT_FLYER)) return fault();
    issued = now.done;
    if (now.done < n) MD_TRY(settle_structure());
    halted = false;
  }
  return MD_OK;
}

/* Gives the kicks that are due at the end of a run. */
template <class T> md_status gpu_engine<T>::settle_velocities()
{
  const bool owes = model->integrator == MD_NVE || model->integrator == MD_LEAPFROG_MIRROR;
  if (!owes || model->pair.kind == MD_PAIR_NONE) return MD_OK;
  MD_TRY(settle_structure());
  const double mark = md_time();
  real *impulse[3] = {};
  impulse_arrays(impulse);
  MD_TRY(launch_forces(view, impulse, false));
  MD_TRY(share_overflow());
  MD_TRY(launch_kick<T>(wide, view, step, 1.0, impulse));
  MD_TRY(look());
  timers.seconds[MD_PHASE_FORCE] += md_time() - mark;
  return now.halt & HALT_OVERLAP ? overlap_error(-1) : MD_OK;
}

template <class T> md_status gpu_engine<T>::run(int64_t n)
{
  if (model->integrator == MD_STATIC) {
    model->step += n;
    steps += n;
    return MD_OK;
  }
  if (n == 0) return MD_OK;
  MD_TRY(settle_structure());
  set_step();
  interval.begin_run(now.done);
  now.done = 0;
  now.target = n;
  MD_TRY(put_progress());
  MD_TRY(steps_sort() ? run_sorting(n) : several ? run_ranks(n) : run_alone(n));
  steps += n;
  model->step += n;
  return settle_velocities();
}

#endif
