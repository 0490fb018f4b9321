/* Loading the GPU engine's library; see gpu_library.h. A program into which the engine was linked (validate/emulator)
 * already has the symbol of the library. */
#include "src/engines/gpu_library.h"
#include "src/files/part.h"

static md_part part = {.file = "libmyriad-gpu.so",
                       .symbol = "md_gpu",
                       .variable = "MYRIAD_GPU_LIBRARY",
                       .name = "the GPU engine's library",
                       .made = "`make gpu` builds it, where nvcc is found"};

md_status md_gpu_library_load(const md_gpu_library **library)
{
  MD_TRY(md_part_load(&part));
  *library = part.loaded;
  return MD_OK;
}

const md_transport_opener *md_gpu_library_transport(void)
{
  const md_gpu_library *library = part.loaded;
  return library ? library->transport : NULL;
}
