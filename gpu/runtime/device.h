/* Which GPU, and whether this build can use it. */
#ifndef MD_GPU_RUNTIME_DEVICE_H
#define MD_GPU_RUNTIME_DEVICE_H

#include "common/base/error.h"

#include <cuda_runtime.h>

/* Makes device `wanted` (-1: that of the rank among its host's, which take turns) the current one and describes it.
 * MD_RUNTIME: no GPU, too old a driver, or a GPU
 * for which this build has no code, with what to do. */
md_status md_device_choose(int wanted, int local_rank, cudaDeviceProp *properties) MD_CHECKED;

#endif
