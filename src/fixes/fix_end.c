/* Steps with fixes that act after them; see fix_end.h. */
#include "src/fixes/fix_end.h"
#include "common/base/memory.h"
#include "common/force/forces.h"
#include "common/ranks/reductions.h"
#include "src/averages/output_fix.h"
#include "src/fixes/fix_vary.h"
#include "src/measure.h"
#include "src/steps.h"

#include <stdio.h>
#include <string.h>

md_status md_fix_end_check(const md_model *model)
{
  for (int f = 0; f < model->nend; ++f) {
    const md_fix *fix = &model->fix[model->end[f].fix];
    if (md_model_group_count(model, fix->group) == 0)
      return md_error(MD_USAGE, "fix %s: the group %s has no particles", md_fix_style_of(fix->kind)->name,
                      model->groups.name[fix->group]);
  }
  return MD_OK;
}

/* The first step >= `step` after which a fix acts; INT64_MAX: none. */
static int64_t due_from(const md_model *model, int64_t step)
{
  int64_t due = INT64_MAX;
  for (int f = 0; f < model->nend; ++f) {
    const int64_t wanted = md_step_multiple(step, model->end[f].every);
    if (wanted < due) due = wanted;
  }
  return due;
}

static bool measures(const md_fix_end *end) { return end->compute.kind != MD_COMPUTE_KINDS; }

static md_status measured(const md_engine_kind *kind, md_engine *engine, md_comm *comm, md_model *model,
                          const md_fix_end *end, md_measure *measure)
{
  return md_measure_ranks(kind, engine, comm, model, md_fix_end_wants(model, end), measure);
}

md_status md_fix_end_begin(const md_engine_kind *kind, md_engine *engine, md_comm *comm, md_model *model,
                           md_run_place place)
{
  for (int f = 0; f < model->nend; ++f) {
    md_fix *fix = &model->fix[model->end[f].fix];
    if (md_fix_style_of(fix->kind)->begin)
      md_fix_style_of(fix->kind)->begin(fix, model, place != MD_RUN_BEGINS);
    if (place == MD_RUN_RESUMED || !md_fix_end_knows(model, &model->end[f])) continue;
    md_measure measure;
    MD_TRY(measured(kind, engine, comm, model, &model->end[f], &measure));
    md_fix_end_compare(model, &model->end[f], &measure);
  }
  return MD_OK;
}

static md_status allocate_forces(const md_particles *p, double *force[3])
{
  for (int d = 0; d < p->dim; ++d) MD_TRY(md_array_new(&force[d], p->n, sizeof(double), "forces for a fix"));
  return MD_OK;
}

/* Makes the particles current, and fills force[] with the forces on those of this rank, also those of fixes. */
static md_status find_forces(const md_engine_kind *kind, md_engine *engine, md_sim *sim, double *force[3])
{
  MD_TRY(md_comm_agree(sim->comm, kind->download(engine, NULL)));
  MD_TRY(md_comm_agree(sim->comm, allocate_forces(&sim->particles, force)));
  MD_TRY(md_comm_agree(sim->comm, kind->download(engine, force)));
  if (sim->model.nforce_action == 0) return MD_OK;
  return md_forces_output(&sim->model, sim->comm, &sim->particles, force, NULL);
}

/* Lets a fix look at the particles and the forces on them. */
static md_status look(const md_engine_kind *kind, md_engine *engine, md_sim *sim, md_fix *fix)
{
  const md_fix_style *style = md_fix_style_of(fix->kind);
  double *force[3] = {NULL, NULL, NULL};
  if (!style->look || !style->looks(fix)) return MD_OK;
  md_status status = style->look_forces ? find_forces(kind, engine, sim, force)
                                        : md_comm_agree(sim->comm, kind->download(engine, NULL));
  if (status == MD_OK) status = style->look(fix, &sim->model, &sim->particles, force, sim->comm);
  for (int d = 0; d < 3; ++d) free(force[d]);
  return status;
}

/* Lets fix f of those that act after steps act after the present step, or before the next one. Then no other one
 * knows the values of its compute any more. */
static md_status act(const md_engine_kind *kind, md_engine *engine, md_sim *sim, int f, bool before)
{
  md_comm *comm = sim->comm;
  md_model *model = &sim->model;
  const md_fix_end *end = &model->end[f];
  MD_TRY(look(kind, engine, sim, &model->fix[end->fix]));
  const bool knows = before && md_fix_end_knows(model, end);
  md_measure measure;
  md_action action;
  bool acts;
  const bool sums = measures(end) && !knows;
  if (sums) MD_TRY(measured(kind, engine, comm, model, end, &measure));
  MD_TRY(md_fix_end_action(model, end, sums ? &measure : NULL, before, &action, &acts));
  if (!acts) return MD_OK;
  for (int other = 0; other < model->nend; ++other)
    if (other != f) model->fix[model->end[other].fix].state[MD_FIX_KNOWN] = 0.0;
  MD_TRY(md_comm_agree(comm, kind->act(engine, &action)));
  if (!md_fix_style_of(action.kind)->tallies) return MD_OK;
  md_measure after;
  MD_TRY(measured(kind, engine, comm, model, end, &after));
  md_fix_end_tally(model, end, &measure, &after);
  return MD_OK;
}

/* The sums that the first fix to act after step `due` takes there. */
static md_wanted awaited(const md_model *model, int64_t due)
{
  for (int f = 0; f < model->nend; ++f) {
    const md_fix_style *style = md_fix_style_of(model->end[f].action.kind);
    if (due % model->end[f].every != 0) continue;
    if (style->choose || style->look || !measures(&model->end[f])) break;
    return md_fix_end_wants(model, &model->end[f]);
  }
  return (md_wanted){.pairs = false};
}

/* Runs n steps. One that changes the box, or shifts particles, is run by itself. */
static md_status run_steps(const md_engine_kind *kind, md_engine *engine, md_sim *sim, int64_t n)
{
  if ((sim->model.move.pending || md_fixes_shift(&sim->model)) && n > 1) {
    MD_TRY(md_comm_agree(sim->comm, md_fix_vary_run(kind, engine, sim, 1)));
    MD_TRY(md_fixes_end_shift(&sim->model));
    --n;
  }
  MD_TRY(md_fix_vary_run(kind, engine, sim, n));
  return md_fixes_end_shift(&sim->model);
}

/* Lets fix f act after the present step on particles that it chooses. */
static md_status act_on_chosen(const md_engine_kind *kind, md_engine *engine, md_sim *sim, int f)
{
  md_model *model = &sim->model;
  const md_fix_end *end = &model->end[f];
  md_fix *fix = &model->fix[end->fix];
  md_action action[MD_CHOSEN_MAX];
  int n;
  MD_TRY(md_comm_agree(sim->comm, kind->download(engine, NULL)));
  MD_TRY(
      md_fix_style_of(fix->kind)->choose(fix, model, &sim->particles, sim->comm, &end->action, action, &n));
  for (int other = 0; other < model->nend && n > 0; ++other)
    model->fix[model->end[other].fix].state[MD_FIX_KNOWN] = 0.0;
  for (int k = 0; k < n; ++k) MD_TRY(md_comm_agree(sim->comm, kind->act(engine, &action[k])));
  return MD_OK;
}

/* Lets fix f of those that act after steps act after the present step. */
static md_status act_after(const md_engine_kind *kind, md_engine *engine, md_sim *sim, int f)
{
  if (md_fix_style_of(sim->model.end[f].action.kind)->choose) return act_on_chosen(kind, engine, sim, f);
  return act(kind, engine, sim, f, false);
}

/* Runs n steps back, of which no fix acts after one but those that shear the box. Each step has a box of its own, and
 * after it is shown what was shown there before. */
static md_status run_back(const md_engine_kind *kind, md_engine *engine, md_sim *sim, int64_t n)
{
  md_model *model = &sim->model;
  for (; n > 0 && md_fixes_undo_shear(model); --n) {
    md_fixes_shear_to(model, model->step - 1, false);
    MD_TRY(md_comm_agree(sim->comm, run_steps(kind, engine, sim, 1)));
    md_fixes_shear_to(model, model->step, true);
  }
  return n > 0 ? run_steps(kind, engine, sim, n) : MD_OK;
}

/* Does fix f of the model act after steps, when the step of integrators has ended? */
static bool acts_late(const md_model *model, int f)
{
  int e = 0;
  while (e < model->nend && model->end[e].fix != f) ++e;
  return e < model->nend && !md_fix_style_of(model->fix[f].kind)->integrates;
}

void md_fix_end_explain(md_sim *sim)
{
  const char *sampler = NULL;
  int f = 0;
  for (const md_fix_name *name = sim->fixes; name; name = name->next) {
    const md_output_fix *output = name->output ? md_output_fix_find(sim, name->id, strlen(name->id)) : NULL;
    if (output && !output->style->edit && !sampler) sampler = name->id;
    if (name->output || !acts_late(&sim->model, f++) || !sampler) continue;
    char text[320];
    snprintf(text, sizeof text,
             "fix %s sees what fix %s does after a step; in LAMMPS it would not, because it comes first in "
             "the deck",
             sampler, name->id);
    md_sim_explain(sim, "order of fixes", text);
    return;
  }
}

md_status md_fix_end_run(const md_engine_kind *kind, md_engine *engine, md_sim *sim, int64_t n)
{
  md_comm *comm = sim->comm;
  md_model *model = &sim->model;
  const int64_t last = model->step + n;
  if (model->backwards) return run_back(kind, engine, sim, n);
  while (model->step < last) {
    const int64_t due = due_from(model, model->step + 1);
    if (due > last) return run_steps(kind, engine, sim, last - model->step);
    for (int f = 0; f < model->nend; ++f)
      if (md_fix_style_of(model->end[f].action.kind)->half) MD_TRY(act(kind, engine, sim, f, true));
    model->awaited = awaited(model, due);
    const md_status status = md_comm_agree(comm, run_steps(kind, engine, sim, due - model->step));
    model->awaited = (md_wanted){.pairs = false};
    MD_TRY(status);
    for (int f = 0; f < model->nend; ++f)
      if (due % model->end[f].every == 0) MD_TRY(act_after(kind, engine, sim, f));
  }
  return MD_OK;
}
