/* The engine table; see engines.h. A line here adds an engine. */
#include "src/engines/engines.h"
#include "openmp/openmp.h"
#include "src/engines/gpu_library.h"
#include "src/engines/naive.h"

#include <string.h>

const md_engine_entry md_engines[] = {
    {"openmp", &md_engine_openmp},
    {"gpu", NULL},
    {"naive", &md_engine_naive},
};
const int md_engines_count = sizeof md_engines / sizeof md_engines[0];

const md_engine_entry *md_engine_find(const char *name)
{
  for (int k = 0; k < md_engines_count; ++k)
    if (strcmp(md_engines[k].name, name) == 0) return &md_engines[k];
  return NULL;
}

double md_engine_sides_most(const md_engine_kind *kind, const md_engine_options *options, int ranks)
{
  return kind->sides_most ? kind->sides_most(options, ranks) : MD_SIDES_MOST;
}

const md_engine_kind *md_engine_for(const md_engine_kind *kind, const md_model *model,
                                    const md_engine_options *options, int ranks)
{
  if (kind->all_pairs && md_pair_is_all(&model->pair)) return kind->all_pairs;
  const double most = md_engine_sides_most(kind, options, ranks);
  bool fits = true;
  for (int d = 0; d < model->box.dim; ++d)
    fits = fits && (!model->box.periodic[d] || model->cutoff <= most * model->box.length[d]);
  return fits ? kind : &md_engine_openmp;
}

md_status md_engine_get(const md_engine_entry *entry, const md_engine_kind **kind)
{
  const md_gpu_library *library;
  *kind = entry->kind;
  if (*kind) return MD_OK;
  MD_TRY(md_gpu_library_load(&library));
  *kind = library->engine;
  return MD_OK;
}
