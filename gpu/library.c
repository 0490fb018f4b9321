/* The one symbol of the GPU engine's library; see gpu.h. */
#include "gpu/gpu.h"

#ifdef MD_WITH_MPI
#include "mpi/transport/transport.h"
#define TRANSPORT &md_transport_mpi_opener
#else
#define TRANSPORT NULL
#endif

const md_gpu_library md_gpu = {MD_SOURCES, &md_engine_gpu, md_gpu_describe, TRANSPORT};
