/* The two algorithms of CUB that the engine calls, on the host: an exclusive sum, which may be in place, and a stable
 * sort. As in CUB, a call without scratch memory only returns the number of bytes that the algorithm needs.
 */
#ifndef MD_VALIDATE_EMULATOR_CUB_CUB_CUH
#define MD_VALIDATE_EMULATOR_CUB_CUB_CUH

#include <cuda_runtime.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace cub
{
enum { SCRATCH = 256 };

struct DeviceScan {
  template <class In, class Out, class Count>
  static cudaError_t ExclusiveSum(void *scratch, size_t &bytes, In in, Out out, Count n,
                                  cudaStream_t = nullptr)
  {
    bytes = SCRATCH;
    if (scratch == nullptr) return cudaSuccess;
    std::remove_reference_t<decltype(out[0])> sum = 0;
    for (Count k = 0; k < n; ++k) {
      const auto value = in[k];
      out[k] = sum;
      sum += value;
    }
    return cudaSuccess;
  }

  template <class At, class Count>
  static cudaError_t ExclusiveSum(void *scratch, size_t &bytes, At at, Count n, cudaStream_t stream = nullptr)
  {
    return ExclusiveSum(scratch, bytes, at, at, n, stream);
  }
};

struct DeviceRadixSort {
  /* Sorts by the bits [first, end) of the keys. */
  template <class Key, class Value, class Count>
  static cudaError_t SortPairs(void *scratch, size_t &bytes, const Key *key, Key *sorted, const Value *value,
                               Value *moved, Count n, int first = 0, int end = 8 * sizeof(Key),
                               cudaStream_t = nullptr)
  {
    bytes = SCRATCH;
    if (scratch == nullptr) return cudaSuccess;
    const auto part = [=](Count k) {
      const uint64_t above = (uint64_t)key[k] >> first;
      return end - first >= 64 ? above : above & ((uint64_t(1) << (end - first)) - 1);
    };
    std::vector<Count> order((size_t)n);
    std::iota(order.begin(), order.end(), Count(0));
    std::stable_sort(order.begin(), order.end(), [&](Count a, Count b) { return part(a) < part(b); });
    for (Count k = 0; k < n; ++k) {
      sorted[k] = key[order[(size_t)k]];
      moved[k] = value[order[(size_t)k]];
    }
    return cudaSuccess;
  }
};
} // namespace cub

#endif
