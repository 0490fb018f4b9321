/* Fix external in a simulation; see external.h. */
#include "src/fixes/external.h"
#include "common/force/external.h"
#include "common/ranks/reductions.h"

#include <string.h>

md_status md_external_begin(md_sim *sim, int index)
{
  md_fix *fix = &sim->model.fix[index];
  md_particles *p = &sim->particles;
  if (!md_fix_style_of(fix->kind)->external) return MD_OK;
  MD_TRY(md_comm_agree(sim->comm, md_particles_make_external(p, true)));
  sim->model.pushed = true;
  for (int d = 0; d < p->dim && p->n > 0 && fix->state[MD_EXTERNAL_BEGUN] != 1.0; ++d)
    memset(p->external[d], 0, (size_t)p->n * sizeof *p->external[d]);
  fix->state[MD_EXTERNAL_BEGUN] = 1.0;
  return MD_OK;
}

md_status md_external_end(md_sim *sim)
{
  if (!sim->model.pushed || md_fixes_external(&sim->model) >= 0) return MD_OK;
  sim->model.pushed = false;
  return md_particles_make_external(&sim->particles, false);
}

md_status md_external_check(const md_sim *sim)
{
  const md_model *model = &sim->model;
  const int f = md_fixes_external(model);
  if (f < 0) return MD_OK;
  if (md_pair_is_all(&model->pair) && strcmp(sim->engine->name, "gpu") == 0)
    return md_error(MD_USAGE,
                    "fix external: the GPU engine cannot use it with pair style %s; use --engine openmp",
                    md_pair_style_of(model->pair.kind)->name);
  if (model->fix[f].k[MD_EXTERNAL_CALLS] == 0.0 || model->fix[f].function) return MD_OK;
  return md_error(
      MD_USAGE,
      "fix external pf/callback has no function; a program that uses Myriad as a library gives the function "
      "after the fix, by fix_external() in Python or myriad_fix_external() in C; or use pf/array");
}
