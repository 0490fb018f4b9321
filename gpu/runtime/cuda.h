/* CUDA's results as md_status, and device memory that is counted: what every file here that calls the runtime uses.
 *
 * Functions below are for C++; they return MD_RUNTIME with a message naming the call, or the memory that is missing
 * and the way out.
 */
#ifndef MD_GPU_RUNTIME_CUDA_H
#define MD_GPU_RUNTIME_CUDA_H

#include "common/base/error.h"

#include <cuda_runtime.h>
#include <stdint.h>

/* MD_OK, or an error naming the call. */
md_status md_cuda_check(cudaError_t result, const char *call) MD_CHECKED;

#define MD_CUDA(call) MD_TRY(md_cuda_check((call), #call))

/* After a kernel launch. */
#define MD_LAUNCHED(kernel) MD_TRY(md_cuda_check(cudaGetLastError(), "launch of " kernel))

/* The device memory of one engine. */
typedef struct device_memory {
  int64_t used;  /* bytes */
  int64_t limit; /* 0: what the device has */
} device_memory;

/* One array on the device. `what` names it in errors. Zero-initialise. */
typedef struct device_array {
  void *at;
  int64_t bytes;
} device_array;

/* (Re)allocates for at least `bytes`; the contents are lost if it must grow. */
md_status md_device_reserve(device_memory *memory, device_array *array, int64_t bytes,
                            const char *what) MD_CHECKED;
/* (Re)allocates for at least `bytes`, filled with so many from the host. */
md_status md_device_upload(device_memory *memory, device_array *array, const void *from, int64_t bytes,
                           const char *what) MD_CHECKED;
/* A larger array in its place, with the first `used` bytes of the old one. The stream rests afterwards. */
md_status md_device_enlarge(device_memory *memory, device_array *array, int64_t bytes, int64_t used,
                            cudaStream_t stream, const char *what) MD_CHECKED;
void md_device_free(device_memory *memory, device_array *array);

/* Bytes that can still be allocated, within the limit. */
md_status md_device_available(const device_memory *memory, int64_t *bytes) MD_CHECKED;

#endif
