/* The GPU engine's library, libmyriad-gpu.so: loaded when it is asked for, so that the program needs no CUDA. */
#ifndef MD_SRC_ENGINES_GPU_LIBRARY_H
#define MD_SRC_ENGINES_GPU_LIBRARY_H

#include "gpu/gpu.h"

/* Finds and loads the library, once; *library is not to be freed. It is the file that $MYRIAD_GPU_LIBRARY names, or
 * else lies beside the program or in ../lib/myriad from there. MD_USAGE: there is none; MD_RUNTIME: it cannot be loaded,
 * or was built from other sources than the program. The message says what to do. */
md_status md_gpu_library_load(const md_gpu_library **library) MD_CHECKED;

/* How a loaded library sends messages between ranks; NULL: none is loaded, or it was built without MPI. */
const md_transport_opener *md_gpu_library_transport(void);

#endif
