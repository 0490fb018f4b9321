/* The OpenMP engine for the program: bin, sort by cell, cell_start, Verlet list, force, move; see engine.c. */
#ifndef MD_OPENMP_OPENMP_H
#define MD_OPENMP_OPENMP_H

#include "common/engine.h"

extern const md_engine_kind md_engine_openmp;

/* The engine for pair styles without a cutoff; see openmp/all_pairs/all_pairs.c. */
extern const md_engine_kind md_engine_openmp_all_pairs;

/* Name of the instruction set with which the kernels of this engine would run on this machine; "no" where build and
 * processor share none. Static. */
const char *md_openmp_isa(void);

/* A sentence that names the best instruction set of this processor, if this build has no kernels for it; else NULL.
 * Static. */
const char *md_openmp_isa_note(void);

/* *isa: the instruction set that the environment variable MYRIAD_ISA names, or NULL for the best one. MD_USAGE: build
 * or processor do not have it, or they share no set; the message names those that there are. */
md_status md_openmp_wanted_isa(const char **isa) MD_CHECKED;

#endif
