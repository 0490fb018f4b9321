/* Errors of steps: a pair that overlaps, or a particle that moves too far.
 *
 * A step leaves a bit of progress.halt and no more, so that it pays nothing for messages. As no later step is taken, the
 * state is still that of the error, and kernels for nothing else (diagnose.cu) look for the particles: of several those of
 * the smallest ids, which are the same on any number of ranks and for every engine.
 *
 * Cost: some passes over all pairs, or particles, once.
 */
#ifndef MD_GPU_ENGINE_ERROR_CUH
#define MD_GPU_ENGINE_ERROR_CUH

#include "common/faults.h"
#include "gpu/engine.cuh"

template <class T> md_status gpu_engine<T>::find(bool overlap, culprit *found)
{
  system_view<T> s = view;
  const int *origin = step.origin;
  if (overlap) MD_TRY(sorted_view(&s, &origin));
  /* Copies of ids and results do not wait for the stream. */
  MD_CUDA(cudaStreamSynchronize(stream));
  device_array at = {};
  const culprit none = {~0ull, ~0ull, 0.0, 0.0, 0.0, 0};
  MD_TRY(upload(&at, &none, sizeof none, "an error's particles"));
  /* The idle position array has room for ids, or if a sorted copy is there, that of its velocities. */
  int64_t *id = (int64_t *)(options.gpu.unsorted ? a.spare[0] : a.x[now.parity ^ 1u]).at;
  md_status status =
      several ? ranks.spread_ids(view, origin, id)
              : md_cuda_check(cudaMemcpy(id, p->id, (size_t)p->n * 8, cudaMemcpyHostToDevice), "copy of ids");
  if (several) origin = nullptr;
  if (status == MD_OK && overlap)
    status = launch_find_overlap<T>(wide, source, s, id, origin, (culprit *)at.at);
  if (status == MD_OK && !overlap) status = launch_find_flyer<T>(wide, s, step, id, origin, (culprit *)at.at);
  if (status == MD_OK)
    status = md_cuda_check(cudaStreamSynchronize(stream), "search for an error's particles");
  if (status == MD_OK)
    status =
        md_cuda_check(cudaMemcpy(found, at.at, sizeof *found, cudaMemcpyDeviceToHost), "copy of an error");
  md_device_free(&memory, &at);
  return status;
}

/* `later`: the step is counted relative to the model's. */
template <class T> md_status gpu_engine<T>::overlap_error(int64_t later)
{
  culprit found;
  MD_TRY(find(true, &found));
  model->step += later;
  md_overlap overlap = {(int64_t)found.a, (int64_t)found.b, found.r2};
  if (found.a == ~0ull)
    return md_error(MD_PHYSICS,
                    "step %lld: two particles overlap: start from separated particles, or use a timestep "
                    "smaller than %g",
                    (long long)model->step, model->dt);
  return md_overlap_status(&overlap, model);
}

template <class T> md_status gpu_engine<T>::fault()
{
  if (now.halt & HALT_OVERLAP) {
    /* The force of a step's end is taken at the beginning of the next. */
    const bool of_before = model->integrator != MD_LEAPFROG && now.done > 0;
    return overlap_error(now.done - (of_before ? 1 : 0));
  }
  culprit found;
  MD_TRY(find(false, &found));
  model->step += now.done;
  md_flyer flyer = md_flyer_none();
  if (found.a != ~0ull)
    md_flyer_add(&flyer, (int64_t)found.a, (int)found.b, found.x, found.v,
                 model->velocity_per_v[found.type + 1]);
  MD_TRY(md_flyer_status(&flyer, model));
  return md_error(MD_PHYSICS, "step %lld: a particle moves too far; use a timestep smaller than %g",
                  (long long)model->step, model->dt);
}

#endif
