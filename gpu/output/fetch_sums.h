/* Fine sums of the device as wide sums of the host. */
#ifndef MD_GPU_OUTPUT_FETCH_SUMS_H
#define MD_GPU_OUTPUT_FETCH_SUMS_H

#include "common/arithmetic/exact.h"
#include "gpu/runtime/cuda.h"

/* Adds `count` fine sums to wide sums. half: as fine_sums (gpu/particle/launch.cuh) has them. */
void gpu_add_sums(const int64_t *half, int count, md_wide *const *sum);

/* Adds the `count` fine sums of an array of the device (fine_sums, gpu/particle/launch.cuh) to wide sums; count <=
 * MD_TERMS_MAX. Waits for the stream in which kernels make the sums. */
md_status gpu_fetch_sums(const device_array *array, int count, md_wide *const *sum,
                         cudaStream_t stream) MD_CHECKED;

#endif
