/* Several lanes of a warp share a particle, in the kernels of steps with lists. Of 32 / LANES = TOGETHER particles of a
 * warp, the first TOGETHER lanes have number 0 of each, the next TOGETHER lanes number 1, and so on:
 *
 *      lanes        0 ... 3    4 ... 7         28 ... 31       LANES = 8: a warp has four particles
 *      particles    0 ... 3    0 ... 3   ...    0 ... 3
 *      number          0          1                7
 */
#ifndef MD_GPU_STEP_LANES_CUH
#define MD_GPU_STEP_LANES_CUH

#include "gpu/particle/images.cuh"

/* Joins the sums of the lanes that share a particle. least: becomes the least of theirs. */
template <class T, int TOGETHER>
static __device__ __forceinline__ void join_lanes(typename T::sum sum[3], int &least)
{
#pragma unroll
  for (int lane = TOGETHER; lane < 32; lane *= 2) {
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) T::join(sum[d], lane);
    least = min(least, __shfl_xor_sync(0xffffffffu, least, lane));
  }
}

/* The record that the first lane of the particle has. All lanes of the warp call it. */
template <class R, int TOGETHER> static __device__ __forceinline__ R record_of_first_lane(const R &own)
{
  constexpr int WORDS = sizeof own / 4;
  unsigned word[WORDS];
  R record;
  memcpy(word, &own, sizeof own);
#pragma unroll
  for (int w = 0; w < WORDS; ++w) word[w] = __shfl_sync(0xffffffffu, word[w], threadIdx.x % TOGETHER);
  memcpy(&record, word, sizeof record);
  return record;
}

#endif
