/* Which GPU a rank uses, and whether this build can use it. */
#ifndef MD_GPU_RUNTIME_DEVICE_H
#define MD_GPU_RUNTIME_DEVICE_H

#include "common/base/error.h"

#include <cuda_runtime.h>

/* Makes device `wanted` the current one, and writes its properties. wanted = -1: the ranks of a host take its
 * devices in turn, by local_rank. MD_USAGE: there is no device with this number. MD_RUNTIME: there is no GPU, the
 * driver is too old, or this build has no code for the GPU; the message says what to do. */
md_status md_device_choose(int wanted, int local_rank, cudaDeviceProp *properties) MD_CHECKED;

#endif
