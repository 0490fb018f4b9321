/* The engine table; see engines.h. An engine is added by its line here. */
#include "src/engines.h"
#ifdef MD_WITH_GPU
#include "gpu/gpu.h"
#endif
#include "openmp/openmp.h"
#include "validate/naive.h"

#include <string.h>

/* The first is the default. */
const md_engine_kind *const md_engines[] = {
    &md_engine_openmp,
#ifdef MD_WITH_GPU
    &md_engine_gpu,
#endif
    &md_engine_naive,
};
const int md_engines_count = sizeof md_engines / sizeof md_engines[0];

const md_engine_left_out md_engines_left_out[] = {
#ifndef MD_WITH_GPU
    {"gpu", "nvcc when the program is built (see make info)"},
#endif
    {NULL, NULL},
};

const md_engine_kind *md_engine_find(const char *name)
{
  for (int k = 0; k < md_engines_count; ++k)
    if (strcmp(md_engines[k]->name, name) == 0) return md_engines[k];
  return NULL;
}
