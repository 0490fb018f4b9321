/* Steps with fixes that act behind them; see fix_end.h. */
#include "src/fix_end.h"
#include "common/ranks/reductions.h"
#include "src/measure.h"
#include "src/steps.h"

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

/* The first step >= `step` behind which a fix acts; INT64_MAX: none. */
static int64_t due_from(const md_model *model, int64_t step)
{
  int64_t due = INT64_MAX;
  for (int f = 0; f < model->nend; ++f) {
    const int64_t wanted = md_step_multiple(step, model->end[f].every);
    if (wanted < due) due = wanted;
  }
  return due;
}

/* Lets one fix act behind the present step, or before the next one. */
static md_status act(const md_engine_kind *kind, md_engine *engine, md_comm *comm, md_model *model,
                     const md_fix_end *end, bool before)
{
  md_measure measure;
  md_action action;
  bool acts;
  MD_TRY(md_measure_ranks(kind, engine, comm, model, md_computes_want(&end->compute, 1), &measure));
  MD_TRY(md_fix_end_action(model, end, &measure, before, &action, &acts));
  return acts ? md_comm_agree(comm, kind->act(engine, &action)) : MD_OK;
}

md_status md_fix_end_run(const md_engine_kind *kind, md_engine *engine, md_comm *comm, md_model *model,
                         int64_t n)
{
  const int64_t last = model->step + n;
  while (model->step < last) {
    const int64_t due = due_from(model, model->step + 1);
    if (due > last) return kind->run(engine, last - model->step);
    for (int f = 0; f < model->nend; ++f)
      if (md_fix_style_of(model->end[f].action.kind)->half)
        MD_TRY(act(kind, engine, comm, model, &model->end[f], true));
    MD_TRY(md_comm_agree(comm, kind->run(engine, due - model->step)));
    for (int f = 0; f < model->nend; ++f)
      if (due % model->end[f].every == 0) MD_TRY(act(kind, engine, comm, model, &model->end[f], false));
  }
  return MD_OK;
}
