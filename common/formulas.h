/* The pair formulas in double precision: md_<style>_force and md_<style>_energy, for C and CUDA alike. */
#ifndef MD_COMMON_FORMULAS_H
#define MD_COMMON_FORMULAS_H

#include "common/real.h"

MD_FN double md_fms(double a, double b, double c) { return fma(a, b, -c); }

#define real double
#define MD_T(name) name
#include "common/pair_styles.h"
#undef real
#undef MD_T

#endif
