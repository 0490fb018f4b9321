/* The GPU engine as the program sees it: a library of its own (src/engines/gpu_library.c loads it) with one symbol, `md_gpu`. The
 * engine, on CUDA, gives the same bits as every other; see engine.cuh.
 */
#ifndef MD_GPU_GPU_H
#define MD_GPU_GPU_H

#include "common/engine.h"
#include "common/ranks/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const md_engine_kind md_engine_gpu;

/* Describes the devices of this machine and the architectures of this build, a line each, for `myriad info`.
 * Never fails: what is missing is said in the text. Terminated, at most `size` bytes. */
void md_gpu_describe(char *text, unsigned long size);

/* What the library offers. `sources` stays the first member: it is read before anything else may be. */
typedef struct md_gpu_library {
  const char *sources; /* a digest of common/ and gpu/, which must be the program's own */
  const md_engine_kind *engine;
  void (*describe)(char *text, unsigned long size);
  const md_transport_opener *transport; /* messages between ranks; NULL: built without MPI */
} md_gpu_library;

extern const md_gpu_library md_gpu;

#ifdef __cplusplus
}
#endif
#endif
