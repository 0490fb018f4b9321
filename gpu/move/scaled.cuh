/* What the moves of common models share (move_scaled.cu, move_packed.cu): kicks with factors of velocities between
 * them, and the order of the particles. */
#ifndef MD_GPU_MOVE_SCALED_CUH
#define MD_GPU_MOVE_SCALED_CUH

#include "gpu/move/carry.cuh"
#include "gpu/move/owed.cuh"

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

/* Calls move(i) for the particles that a thread takes, in the opposite order of the kernels that walk through particles
 * with a grid of the same size, as k_awaited does (gpu/step/awaited.cu): the blocks from the last to the first, and the
 * particles of a block from the last to the first. What those kernels left in the cache last comes first. All lanes of a
 * warp call it together. i may be n or more, in the last warp. */
template <class F> static __device__ __forceinline__ void for_each_from_last(int n, F move)
{
  const unsigned stride = gridDim.x * blockDim.x, end = ((unsigned)n + 31u) / 32u * 32u;
  const unsigned first = (gridDim.x - 1u - blockIdx.x) * blockDim.x + threadIdx.x;
  for (unsigned turn = (end + (stride - 1u - first)) / stride; turn-- > 0;)
    move((int)(first + turn * stride));
}

/* Empties the sums for the next forces (gpu/step/awaited.cu). The host has got those of the last ones. */
static __device__ __forceinline__ void empty_awaited_sums(control *ctl)
{
  if (blockIdx.x > 0) return;
  for (unsigned w = threadIdx.x; w < AWAITED_WORDS; w += blockDim.x) ctl->awaited[w] = 0;
}

#endif
