/* A barrier of all blocks of a launch, for kernels that take several steps.
 *
 * The blocks count themselves in the slot of their launch (progress.cuh). Each block adds 1 when its threads have come
 * to the barrier, and waits until all blocks have. What a thread wrote before the barrier, all threads see after it.
 *
 *   bits 63 ... 48            bits 47 ... 32           bits 31 ... 0
 *   blocks with an answer     the same of the          blocks that have come to the barrier,
 *   in odd rounds             even rounds              since the launch began
 *
 * A block may already be in the next round while others still look at the counts of this one. So answers of odd and
 * even rounds are apart.
 *
 * All blocks must be on the device at the same time: launch_together() (launch.cuh). Trade-off: a barrier takes less
 * time than the end of a launch and the beginning of the next one. In return only as many threads may take part as the
 * device has room for. Cost: about 1 microsecond.
 */
#ifndef MD_GPU_PARTICLE_GRID_BARRIER_CUH
#define MD_GPU_PARTICLE_GRID_BARRIER_CUH

#include "gpu/particle/progress.cuh"

#include <cuda/atomic>

/* Adds `more` to a counter, and waits until its lower 32 bits, which may wrap, have come to `target`. One thread of a
 * block calls it, between barriers of the block. Returns the counter. */
template <class WORD>
static __device__ __forceinline__ WORD arrive_and_wait(WORD &counter, WORD more, unsigned target)
{
  const cuda::atomic_ref<WORD, cuda::thread_scope_device> arrived(counter);
  arrived.fetch_add(more, cuda::memory_order_release);
  WORD seen = arrived.load(cuda::memory_order_acquire);
  for (; (int)((unsigned)seen - target) < 0; seen = arrived.load(cuda::memory_order_acquire)) __nanosleep(20);
  return seen;
}

/* Waits until all threads of all blocks have called it, and returns whether `answer` was true for any of them. round:
 * 1, 2 ... in the calls of a launch. */
static __device__ __forceinline__ bool await_blocks(control *ctl, unsigned launch, unsigned round,
                                                    bool answer)
{
  const unsigned shift = round % 2 ? 48 : 32;
  answer = __syncthreads_or(answer);
  bool any = false;
  if (threadIdx.x == 0) {
    const unsigned long long one = 1ull + ((unsigned long long)answer << shift);
    const unsigned long long seen =
        arrive_and_wait(ctl->slot[launch % SLOTS].arrived, one, round * gridDim.x);
    any = (seen >> shift & 0xffffu) != 0;
  }
  return __syncthreads_or(any);
}

#endif
