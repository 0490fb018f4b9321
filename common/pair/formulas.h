/* The pair formulas in double precision: md_STYLE_force and md_STYLE_energy for each style. C and CUDA. The
 * functions are instances of the templates in common/pair/styles/pair_NAME.h (common/arithmetic/real.h). */
#ifndef MD_COMMON_PAIR_FORMULAS_H
#define MD_COMMON_PAIR_FORMULAS_H

#include "common/arithmetic/real.h"
#include "common/pair/tables/table.h"

#define real double
#define MD_T(name) name
#include "common/pair/pair_styles.h"
#undef real
#undef MD_T

#endif
