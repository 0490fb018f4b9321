/* The OpenMP engine: bin, sort by cell, cell_start, Verlet list, force, move; see engine.c. */
#ifndef MD_OPENMP_OPENMP_H
#define MD_OPENMP_OPENMP_H

#include "common/engine.h"

extern const md_engine_kind md_engine_openmp;

/* Name of the instruction set its kernels would run with on this machine. */
const char *md_openmp_isa(void);

#endif
