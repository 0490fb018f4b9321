/* Fine sums of the device as wide sums of the host; see fetch_sums.h. */
#include "gpu/output/fetch_sums.h"
#include "gpu/output/launches.cuh"

void gpu_add_sums(const int64_t *half, int count, md_wide *const *sum)
{
  for (int q = 0; q < count; ++q)
    for (int part = 0; part < SUM_PARTS; ++part) {
      const int64_t *upper = half + 2 * part * count + q;
      const md_int128 value = (md_int128)upper[0] * (INT64_C(1) << 32) + upper[count];
      md_wide_add(sum[q], part == SUM_COARSE ? value * (INT64_C(1) << MD_FINE_BITS) : value);
    }
}

md_status gpu_fetch_sums(const device_array *array, int count, md_wide *const *sum, cudaStream_t stream)
{
  static_assert((int)SUMS <= (int)MD_TERMS_MAX, "the sums of pairs fit too");
  int64_t half[SUM_PARTS * 2 * MD_TERMS_MAX];
  MD_CUDA(cudaMemcpyAsync(half, array->at, (size_t)fine_sum_bytes(count), cudaMemcpyDeviceToHost, stream));
  MD_CUDA(cudaStreamSynchronize(stream));
  gpu_add_sums(half, count, sum);
  return MD_OK;
}
