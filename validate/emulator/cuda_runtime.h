/* Found before CUDA's own: its types and declarations, with emulator.h where nvcc would build kernels in. */
#ifndef MD_EMULATOR_CUDA_RUNTIME_H
#define MD_EMULATOR_CUDA_RUNTIME_H

#include <cuda_runtime_api.h>
#include <vector_functions.h>
#include <vector_types.h>

#include "validate/emulator/emulator.h"

#endif
