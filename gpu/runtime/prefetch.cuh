/* Prefetching: asks for data that will be read a little later, so that they are in the L2 cache then. It changes
 * no result. */
#ifndef MD_GPU_RUNTIME_PREFETCH_CUH
#define MD_GPU_RUNTIME_PREFETCH_CUH

#include <stdint.h>

template <class U> static __device__ __forceinline__ void fetch(const U *at)
{
  asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}

/* Prefetches the elements [first, end) of an array. All threads of a block call it together. From compute
 * capability 9.0 on it is one request, else one for each cache line. */
template <class U>
static __device__ __forceinline__ void fetch_range(const U *array, unsigned first, unsigned end)
{
  if (first >= end) return;
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
  if (threadIdx.x == 0) {
    const uintptr_t from = (uintptr_t)(array + first) & ~(uintptr_t)15;
    const unsigned bytes = (unsigned)((uintptr_t)(array + end) - from) & ~15u;
    if (bytes) asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes));
  }
#else
  constexpr unsigned LINE = 128 / sizeof(U);
  for (unsigned k = first + threadIdx.x * LINE; k < end; k += blockDim.x * LINE) fetch(array + k);
#endif
}

#endif
