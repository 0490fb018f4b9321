/* The GPU engine as the program sees it: a library of its own with one symbol, `md_gpu`. src/engines/gpu_library.c
 * loads it. The engine runs on CUDA and gives the same bits as every other engine; see gpu/engine/engine.cuh. */
#ifndef MD_GPU_GPU_H
#define MD_GPU_GPU_H

#include "common/engine.h"
#include "common/ranks/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const md_engine_kind md_engine_gpu;

/* The engine for pair styles without a cutoff (gpu/all_pairs/engine.cu). */
extern const md_engine_kind md_engine_gpu_all_pairs;

/* Describes, for `myriad info`, the devices of this machine and the architectures of this build, one line each.
 * text: gets at most `size` bytes, with the terminating zero. Never fails: the text itself says what is missing. */
void md_gpu_describe(char *text, unsigned long size);

/* What the library offers. `sources` stays the first member, because the program reads it before any other member. */
typedef struct md_gpu_library {
  const char *sources; /* digest of the library's common/ and gpu/, which must be the program's own */
  const md_engine_kind *engine;
  void (*describe)(char *text, unsigned long size);
  const md_transport_opener *transport; /* messages between ranks; NULL: built without MPI */
} md_gpu_library;

extern const md_gpu_library md_gpu;

#ifdef __cplusplus
}
#endif
#endif
