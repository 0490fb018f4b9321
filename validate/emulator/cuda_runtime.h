/* The compiler finds this header before the one of CUDA with the same name. It has the types and declarations of
 * CUDA, and emulator.h in place of what nvcc adds for kernels. */
#ifndef MD_VALIDATE_EMULATOR_CUDA_RUNTIME_H
#define MD_VALIDATE_EMULATOR_CUDA_RUNTIME_H

#include <cuda_runtime_api.h>
#include <vector_functions.h>
#include <vector_types.h>

#include "validate/emulator/emulator.h"

#endif
