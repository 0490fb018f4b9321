/* Implements gpu/runtime/device.h, and md_gpu_describe() of gpu/gpu.h: selects and describes devices. */
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
#include "gpu/gpu.h"
#include "gpu/runtime/cuda.h"
#include "gpu/runtime/device.h"

#include <algorithm>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

#ifndef MD_CUDA_ARCHS
#define MD_CUDA_ARCHS "unknown"
#endif

/* A kernel that is never launched. Its attributes tell whether this build has code for the device. */
static __global__ void k_probe() {}

static md_status count_devices(int *count)
{
  const cudaError_t result = cudaGetDeviceCount(count);
  if (result == cudaErrorInsufficientDriver) {
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0) return md_error(MD_RUNTIME, "no GPU: there is no NVIDIA driver; use --engine openmp");
    return md_error(
        MD_RUNTIME,
        "the GPU driver is too old: it knows CUDA %d.%d, and this program was built with %d.%d; update the "
        "driver, or build with an older toolkit",
        driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  }
  if (result == cudaErrorNoDevice || (result == cudaSuccess && *count == 0))
    return md_error(MD_RUNTIME,
                    "no GPU: there is none, or CUDA_VISIBLE_DEVICES hides it; use --engine openmp");
  return md_cuda_check(result, "cudaGetDeviceCount");
}

static md_status has_code(const cudaDeviceProp *p)
{
  cudaFuncAttributes attributes;
  if (cudaFuncGetAttributes(&attributes, k_probe) == cudaSuccess) return MD_OK;
  cudaGetLastError();
  return md_error(MD_RUNTIME,
                  "%s has architecture %d%d, and this build has code for %s only; build again with `make "
                  "CUDA_ARCHS=%d%d`",
                  p->name, p->major, p->minor, MD_CUDA_ARCHS, p->major, p->minor);
}

md_status md_device_choose(int wanted, int local_rank, cudaDeviceProp *properties)
{
  int count = 0;
  MD_TRY(count_devices(&count));
  const int device = wanted < 0 ? local_rank % count : wanted;
  if (device >= count)
    return md_error(MD_USAGE, "package gpu device %d: there are only %d GPUs, numbered from 0", wanted,
                    count);
  MD_CUDA(cudaSetDevice(device));
  MD_CUDA(cudaGetDeviceProperties(properties, device));
  return has_code(properties);
}

/* Each rank sends the identity of its device to all ranks. */
md_status md_device_sharers(md_comm *comm, const cudaDeviceProp *device, int *sharers)
{
  std::vector<int32_t> to((size_t)comm->size);
  std::vector<cudaUUID_t> mine((size_t)comm->size, device->uuid);
  for (int r = 0; r < comm->size; ++r) to[(size_t)r] = r;
  cudaUUID_t *all = nullptr;
  int64_t count = 0;
  MD_TRY(comm->exchange->sparse_exchange(comm, comm->size, to.data(), mine.data(), sizeof(cudaUUID_t),
                                         (void **)&all, &count));
  double most = (double)std::count_if(all, all + count, [&](const cudaUUID_t &other) {
    return memcmp(&other, &device->uuid, sizeof other) == 0;
  });
  free(all);
  MD_TRY(comm->reduce->max(comm, &most, 1));
  *sharers = (int)most;
  return MD_OK;
}

static void append(char *text, unsigned long size, unsigned long *used, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  if (*used < size) {
    const int more = vsnprintf(text + *used, size - *used, format, arguments);
    *used += more > 0 ? (unsigned long)more : 0;
  }
  va_end(arguments);
}

void md_gpu_describe(char *text, unsigned long size)
{
  unsigned long used = 0;
  int count = 0;
  if (size > 0) text[0] = '\0';
  if (count_devices(&count) != MD_OK) append(text, size, &used, "GPUs: %s\n", md_error_text());
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp p;
    if (md_device_choose(device, 0, &p) == MD_OK)
      append(text, size, &used, "GPU %d: %s, architecture %d%d, %.1f GiB, %d multiprocessors\n", device,
             p.name, p.major, p.minor, (double)p.totalGlobalMem / (1024.0 * 1024.0 * 1024.0),
             p.multiProcessorCount);
    else
      append(text, size, &used, "GPU %d cannot be used: %s\n", device, md_error_text());
  }
  append(text, size, &used, "GPU code for architectures: %s\n", MD_CUDA_ARCHS);
}
