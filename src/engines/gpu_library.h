/* The GPU engine's library, libmyriad-gpu.so. It is loaded only when the engine is asked for, so the program runs
 * without CUDA. */
#ifndef MD_SRC_ENGINES_GPU_LIBRARY_H
#define MD_SRC_ENGINES_GPU_LIBRARY_H

#include "gpu/gpu.h"

/* Finds and loads the library, once. *library stays valid until the program ends and must not be freed. The
 * library is the file that $MYRIAD_GPU_LIBRARY names; otherwise a file beside the program, or in ../lib/myriad
 * from there. MD_USAGE: there is none. MD_RUNTIME: it cannot be loaded, or was built from other sources than the
 * program. The message says what to do. */
md_status md_gpu_library_load(const md_gpu_library **library) MD_CHECKED;

/* The function with which a loaded library sends messages between ranks. NULL: no library is loaded, or it was
 * built without MPI. */
const md_transport_opener *md_gpu_library_transport(void);

#endif
