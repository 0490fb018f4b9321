/* Results of CUDA as md_status, and device memory that is counted. Every file of the engine that calls the CUDA
 * runtime uses it.
 *
 * The functions are for C++. They return MD_RUNTIME with a message. The message names the call that failed, or
 * says how much memory is missing and what to do about it.
 */
#ifndef MD_GPU_RUNTIME_CUDA_H
#define MD_GPU_RUNTIME_CUDA_H

#include "common/base/error.h"

#include <cuda_runtime.h>
#include <stdint.h>

/* MD_OK, or an error that names the call. */
md_status md_cuda_check(cudaError_t result, const char *call) MD_CHECKED;

#define MD_CUDA(call) MD_TRY(md_cuda_check((call), #call))

/* To be called after a kernel launch. */
#define MD_LAUNCHED(kernel) MD_TRY(md_cuda_check(cudaGetLastError(), "launch of " kernel))

/* The device memory of one engine. */
typedef struct device_memory {
  int64_t used;  /* bytes */
  int64_t limit; /* bytes; 0: no limit but that of the device */
} device_memory;

/* One array on the device. The functions that allocate it take `what`, its name in errors. Initialise it with
 * zeros; md_device_free() frees it. */
typedef struct device_array {
  void *at;
  int64_t bytes;
} device_array;

/* Allocates at least `bytes`. If the array is smaller, it is freed first: its contents are lost, and after an
 * error it is empty. */
md_status md_device_reserve(device_memory *memory, device_array *array, int64_t bytes,
                            const char *what) MD_CHECKED;
/* Copies from the host to the device, and waits until the bytes are there. cudaMemcpy alone may return when it has read
 * the host's memory, and the engine's streams do not wait for it. */
md_status md_device_fill(void *to, const void *from, int64_t bytes) MD_CHECKED;
/* Reserves, and fills the array with `bytes` bytes of the host. */
md_status md_device_upload(device_memory *memory, device_array *array, const void *from, int64_t bytes,
                           const char *what) MD_CHECKED;
/* Replaces the array by a larger one of at least `bytes`, which begins with the first `used` bytes of the old one.
 * Waits for the stream. */
md_status md_device_enlarge(device_memory *memory, device_array *array, int64_t bytes, int64_t used,
                            cudaStream_t stream, const char *what) MD_CHECKED;
void md_device_free(device_memory *memory, device_array *array);

/* Particles whose numbers the host converts at once, on their way from or to the device: the memory for this is
 * bounded. */
const int64_t COPY_PIECE = 1 << 20;

/* Tells how many bytes can still be allocated, within the limit. */
md_status md_device_available(const device_memory *memory, int64_t *bytes) MD_CHECKED;

#endif
