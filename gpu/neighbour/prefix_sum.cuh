/* Exclusive sums by one block. Each of THREADS threads adds EACH values by itself, a warp adds the sums of its lanes by
 * shuffles, and each warp adds those of the warps before it. This is repeated with the next THREADS * EACH values.
 */
#ifndef MD_GPU_NEIGHBOUR_PREFIX_SUM_CUH
#define MD_GPU_NEIGHBOUR_PREFIX_SUM_CUH

/* The sum of `value` in the lanes before this one, and in all. All lanes of the warp call it. */
static __device__ __forceinline__ int sum_before(int value, int &all)
{
  const int lane = threadIdx.x & 31;
  int sum = value;
#pragma unroll
  for (int back = 1; back < 32; back *= 2) {
    const int other = __shfl_sync(0xffffffffu, sum, max(lane - back, 0));
    if (lane >= back) sum += other;
  }
  all = __shfl_sync(0xffffffffu, sum, 31);
  return sum - value;
}

/* Turns `count` values into their exclusive sums, in place. All threads of the block call it. */
template <int THREADS, int EACH> static __device__ __forceinline__ void sum_by_block(int *values, int count)
{
  constexpr int WARPS = THREADS / 32;
  __shared__ int of_warp[WARPS];
  int before = 0;
  for (int from = 0; from < count; from += THREADS * EACH) {
    const int first = from + threadIdx.x * EACH;
    int value[EACH], sum = 0, warp, block;
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
      value[k] = first + k < count ? values[first + k] : 0;
      sum += value[k];
    }
    int at = sum_before(sum, warp);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = warp;
    __syncthreads();
    const int warps = sum_before(threadIdx.x % 32 < WARPS ? of_warp[threadIdx.x % 32] : 0, block);
    at += before + __shfl_sync(0xffffffffu, warps, threadIdx.x / 32);
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
      if (first + k < count) values[first + k] = at;
      at += value[k];
    }
    before += block;
    __syncthreads();
  }
}

#endif
