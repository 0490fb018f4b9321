/* Implements cuda.h: results of CUDA as md_status, and device memory. */
#include "gpu/runtime/cuda.h"

#include <algorithm>
#include <stdio.h>

md_status md_cuda_check(cudaError_t result, const char *call)
{
  if (result == cudaSuccess) return MD_OK;
  return md_error(MD_RUNTIME, "CUDA: %s: %s (%s)", call, cudaGetErrorString(result),
                  cudaGetErrorName(result));
}

md_status md_device_available(const device_memory *memory, int64_t *bytes)
{
  size_t available, total;
  MD_CUDA(cudaMemGetInfo(&available, &total));
  *bytes = (int64_t)available;
  if (memory->limit > 0) *bytes = std::min(*bytes, std::max<int64_t>(memory->limit - memory->used, 0));
  return MD_OK;
}

md_status md_device_reserve(device_memory *memory, device_array *array, int64_t bytes, const char *what)
{
  if (bytes <= array->bytes) return MD_OK;
  md_device_free(memory, array);
  const bool allowed = memory->limit == 0 || memory->used + bytes <= memory->limit;
  const cudaError_t result = allowed ? cudaMalloc(&array->at, (size_t)bytes) : cudaErrorMemoryAllocation;
  if (result == cudaErrorMemoryAllocation) {
    cudaGetLastError(); /* clears the error: the caller may do with less */
    array->at = nullptr;
    int64_t available = 0;
    MD_TRY(md_device_available(memory, &available));
    const double gib = 1024.0 * 1024.0 * 1024.0;
    return md_error(
        MD_RUNTIME,
        "out of GPU memory: %s need %.4g GiB, %.4g GiB are free and %.4g GiB in use; use fewer "
        "particles, more GPUs, `package gpu neighbours cells` or `package gpu precision mixed`, and see "
        "myriad plan",
        what, (double)bytes / gib, (double)available / gib, (double)memory->used / gib);
  }
  MD_TRY(md_cuda_check(result, "cudaMalloc"));
  array->bytes = bytes;
  memory->used += bytes;
  return MD_OK;
}

md_status md_device_fill(void *to, const void *from, int64_t bytes)
{
  MD_CUDA(cudaMemcpy(to, from, (size_t)bytes, cudaMemcpyHostToDevice));
  MD_CUDA(cudaStreamSynchronize(cudaStreamLegacy));
  return MD_OK;
}

md_status md_device_upload(device_memory *memory, device_array *array, const void *from, int64_t bytes,
                           const char *what)
{
  MD_TRY(md_device_reserve(memory, array, bytes, what));
  return md_device_fill(array->at, from, bytes);
}

md_status md_device_enlarge(device_memory *memory, device_array *array, int64_t bytes, int64_t used,
                            cudaStream_t stream, const char *what)
{
  device_array larger = {};
  MD_TRY(md_device_reserve(memory, &larger, bytes, what));
  MD_CUDA(cudaMemcpyAsync(larger.at, array->at, (size_t)used, cudaMemcpyDeviceToDevice, stream));
  MD_CUDA(cudaStreamSynchronize(stream));
  md_device_free(memory, array);
  *array = larger;
  return MD_OK;
}

void md_device_free(device_memory *memory, device_array *array)
{
  if (!array->at) return;
  cudaFree(array->at);
  memory->used -= array->bytes;
  *array = device_array{nullptr, 0};
}
