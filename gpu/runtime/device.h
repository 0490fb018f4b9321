/* Which GPU a rank uses, whether this build can use it, and how many ranks share it. */
#ifndef MD_GPU_RUNTIME_DEVICE_H
#define MD_GPU_RUNTIME_DEVICE_H

#include "common/ranks/comm.h"

#include <cuda_runtime.h>

/* Makes device `wanted` the current one, and writes its properties. wanted = -1: the ranks of a host take its
 * devices in turn, by local_rank. MD_USAGE: there is no device with this number. MD_RUNTIME: there is no GPU, the
 * driver is too old, or this build has no code for the GPU; the message says what to do. */
md_status md_device_choose(int wanted, int local_rank, cudaDeviceProp *properties) MD_CHECKED;

/* *sharers: the largest number of ranks that have the same GPU; 1: each rank has a GPU of its own. device: the
 * properties of this rank's. Collective. MD_RUNTIME: out of memory. */
md_status md_device_sharers(md_comm *comm, const cudaDeviceProp *device, int *sharers) MD_CHECKED;

#endif
