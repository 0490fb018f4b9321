/* Sums and actions after steps, in the passes of steps: for fixes that act after every step, such as nvt and npt.
 *
 *        force, kick, sums           measure           act            next step
 *   ------------------------ sums are there -- action owed -- action, kick, drift ------->
 *     one pass over particles                                 one pass over particles
 *
 *   1. The program says which sums it will ask for (md_model.awaited). The pass that completes the velocities of a
 *      chunk adds the terms of its particles while they are in the cache, and the pass over pairs adds the virial.
 *   2. An action that scales velocities is owed until the next move. Whatever else reads velocities does it first.
 *
 * Trade-off: a step with such a fix has two passes over particles, and none of its own over pairs. Other actions have
 * passes of their own, and so has a virial that is not that of impulses.
 * Cost: 48 dim bytes a particle and step besides those of a step without such a fix: velocities are read and written
 * once more, and impulses are written and read.
 */
#include "common/compute/measure.h"
#include "openmp/engine.h"

md_wanted engine_awaited(const md_engine *e)
{
  const md_wanted awaited = e->model->awaited;
  return (md_wanted){.virial = awaited.impulses && awaited.virial,
                     .tensor = awaited.impulses && awaited.tensor,
                     .diagonal = awaited.impulses && awaited.tensor,
                     .impulses = awaited.impulses,
                     .summands = awaited.summands};
}

/* Does a summand have the kinetic energies of all particles, which all have the same mass and momenta of one word? */
static bool is_kinetic(const md_engine *e, const md_summand *s)
{
  return s->kind == MD_COMPUTE_ke && s->group == MD_GROUP_ALL && s->bias.kind == MD_BIAS_NONE &&
         e->model->one_mass && !e->model->wide;
}

void engine_add_terms(const md_engine *e, uint64_t summands, int64_t c, md_measure *m)
{
  const md_model *model = e->model;
  kinetic_args a = {.v = {e->p->v[0], e->p->v[1], e->p->v[2]},
                    .dim = e->p->dim,
                    .velocity_per_v = model->velocity_per_v[1],
                    .mass_reference = model->mass_reference};
  for (int k = 0; k < model->nsummand; ++k) {
    const md_summand *s = &model->summand[k];
    if (!(summands >> k & 1)) continue;
    a.per_unit = s->per_unit[0];
    if (is_kinetic(e, s) && e->kernels->kinetic(&a, c * CHUNK, chunk_end(e, c), &m->term[s->first])) continue;
    for (int64_t i = c * CHUNK; i < chunk_end(e, c); ++i)
      md_measure_particle(model, UINT64_C(1) << k, e->p, i, m);
  }
}

bool engine_owe_action(md_engine *e, const md_action *action)
{
  const md_model *model = e->model;
  const md_step step = md_step_of(model);
  const md_scaling kind = md_fix_style_of(action->kind)->scaling;
  if (kind == MD_SCALES_NOT || action->group != MD_GROUP_ALL || action->bias.kind != MD_BIAS_NONE ||
      !model->one_mass || model->wide || e->after_step.scalings == OWED_SCALINGS)
    return false;
  scaling *owed = &e->after_step.scaling[e->after_step.scalings++];
  owed->most = md_step_most(&step, model->velocity_per_v[1]);
  owed->v_step = model->v_step[1];
  for (int d = 0; d < 3; ++d) owed->factor[d] = action->k[kind == MD_SCALES_AXES ? d : 0];
  return true;
}

void engine_do_owed_actions(md_engine *e)
{
  if (e->after_step.scalings == 0) return;
#pragma omp parallel for num_threads(e->threads) schedule(static)
  for (int64_t c = 0; c < (e->p->n + CHUNK - 1) / CHUNK; ++c)
    for (int k = 0; k < e->after_step.scalings; ++k)
      e->kernels->scale(&e->after_step.scaling[k], e->p->dim, e->p->v, c * CHUNK, chunk_end(e, c));
  e->after_step.scalings = 0;
}
