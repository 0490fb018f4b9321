/* What the OpenMP engine decides before it begins, and the memory that it will need. */
#ifndef MD_OPENMP_PLAN_H
#define MD_OPENMP_PLAN_H

#include "common/engine.h"

/* The engine prefers slabs as domains if they are at least this thick (common/ranks/comm.h: prefer_slabs). 0: it
 * prefers none. */
double openmp_slab(const md_model *model);

/* Are half lists (openmp/force/half_kernels.h) better than full ones, for n particles of the model on all ranks? */
bool openmp_halves(const md_model *model, int64_t n);

/* Fills *plan with the memory that n particles of the model need on one rank (`myriad plan`). Makes no engine.
 * MD_USAGE: MYRIAD_MEMORY is neither a number nor off. */
md_status md_openmp_plan(const md_model *model, int64_t n, const md_engine_options *options,
                         md_engine_plan *plan) MD_CHECKED;

#endif
