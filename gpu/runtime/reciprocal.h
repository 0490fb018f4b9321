/* Single-precision reciprocals without the detours of an IEEE division, the same bits; see reciprocal.cu. */
#ifndef MD_GPU_RUNTIME_RECIPROCAL_H
#define MD_GPU_RUNTIME_RECIPROCAL_H

#include "common/base/error.h"

/* Squared distances that may be inverted that way. */
#define RECIPROCAL_LEAST 0x1p-100
#define RECIPROCAL_MOST 0x1p100

/* Do they have the bits of 1.0f/a on this device? */
md_status gpu_check_reciprocals(bool *same) MD_CHECKED;

#endif
