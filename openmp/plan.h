/* What the OpenMP engine decides before it begins, and the memory that takes. */
#ifndef MD_OPENMP_PLAN_H
#define MD_OPENMP_PLAN_H

#include "common/engine.h"

/* The skin it uses: the deck's, within bounds. */
double openmp_skin(const md_model *model);

/* Domains are to be slabs if these are so thick; 0: no matter. */
double openmp_slab(const md_model *model);

md_status md_openmp_plan(const md_model *model, int64_t n, const md_engine_options *options,
                         md_engine_plan *plan) MD_CHECKED;

#endif
