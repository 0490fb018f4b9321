/* Reciprocals in single precision, without the special cases of an IEEE division, but with the same bits; see
 * reciprocal.cu. */
#ifndef MD_GPU_RUNTIME_RECIPROCAL_H
#define MD_GPU_RUNTIME_RECIPROCAL_H

#include "common/base/error.h"

/* The range of squared distances that may be inverted in this way. */
#define RECIPROCAL_LEAST 0x1p-100
#define RECIPROCAL_MOST 0x1p100

/* Have they the bits of 1.0f/a on this device? Allocates device memory and launches a kernel, and waits for it. */
md_status gpu_check_reciprocals(bool *same) MD_CHECKED;

/* The same for 1.0f/sqrtf(a). */
md_status gpu_check_inverse_roots(bool *same) MD_CHECKED;

#endif
