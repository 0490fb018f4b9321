/* Symmetric tensors: six components, in LAMMPS's order xx yy zz xy xz yz. C and CUDA. */
#ifndef MD_COMMON_TENSOR_H
#define MD_COMMON_TENSOR_H

#include "common/arithmetic/real.h"

enum { MD_TENSOR = 6 };

/* The axes a and b of component c: 0, 1, 2 are x, y, z. */
MD_FN int md_tensor_row(int c) { return c < 3 ? c : c == 5 ? 1 : 0; }
MD_FN int md_tensor_column(int c) { return c < 3 ? c : c == 3 ? 1 : 2; }

/* The sum of the components xx, yy and zz. */
static inline double md_trace(const double tensor[MD_TENSOR]) { return tensor[0] + tensor[1] + tensor[2]; }

#endif
