/* The engine table; see engines.h. An engine is added by its line here. */
#include "src/engines.h"
#include "openmp/openmp.h"
#include "validate/naive.h"

#include <string.h>

const md_engine_kind *const md_engines[] = {&md_engine_openmp, &md_engine_naive};
const int md_engines_count = sizeof md_engines / sizeof md_engines[0];

const md_engine_kind *md_engine_find(const char *name)
{
  for (int k = 0; k < md_engines_count; ++k)
    if (strcmp(md_engines[k]->name, name) == 0) return md_engines[k];
  return NULL;
}
