/* The GPU engine: cells, counting sort, fused force and move on CUDA, the same bits as every other engine; see
 * engine.cuh.
 */
#ifndef MD_GPU_GPU_H
#define MD_GPU_GPU_H

#include "common/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const md_engine_kind md_engine_gpu;

/* Describes the devices of this machine and the architectures of this build, a line each, for `myriad info`.
 * Never fails: what is missing is said in the text. Terminated, at most `size` bytes. */
void md_gpu_describe(char *text, unsigned long size);

#ifdef __cplusplus
}
#endif
#endif
