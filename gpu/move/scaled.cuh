/* What the moves of common models share (move_scaled.cu, move_packed.cu): kicks with factors of velocities between
 * them. */
#ifndef MD_GPU_MOVE_SCALED_CUH
#define MD_GPU_MOVE_SCALED_CUH

#include "gpu/move/carry.cuh"
#include "gpu/move/launches.cuh"
#include "gpu/move/owed.cuh"
#include "gpu/step/tiles.cuh"

/* Adds the kicks to a component of a velocity, with the factors in between. */
template <class T>
static __device__ __forceinline__ typename T::real scaled(const step_args &a, const scaled_args<T> &w,
                                                          double kicks, int d, typename T::real impulse,
                                                          typename T::real v)
{
  typedef typename T::real real;
  v = kicked(v, (real)w.owed, impulse, a.quantum);
  for (int k = 0; k < w.scalings; ++k)
    v = (real)md_step_limited(md_step_scaled((double)v, 0.0, w.scaling[k].factor[d], w.v_step),
                              w.scaling[k].most, w.v_step);
  return kicked(v, (real)kicks, impulse, a.quantum);
}

/* Empties the sums for the next forces (gpu/step/awaited.cu). The host has got those of the last ones. */
static __device__ __forceinline__ void empty_awaited_sums(control *ctl)
{
  if (blockIdx.x > 0) return;
  for (unsigned w = threadIdx.x; w < AWAITED_WORDS; w += blockDim.x) ctl->awaited[w] = 0;
}

#endif
