/* Steps with fixes that act behind them; see fix_end.h. */
#include "src/fix_end.h"
#include "common/ranks/reductions.h"
#include "src/measure.h"
#include "src/steps.h"

int64_t md_fix_end_due(const md_model *model, int64_t step)
{
  int64_t due = INT64_MAX;
  for (int f = 0; f < model->nend; ++f) {
    const int64_t wanted = md_step_multiple(step, model->end[f].every);
    if (wanted < due) due = wanted;
  }
  return due;
}

/* Lets one fix act behind the present step. */
static md_status act(const md_engine_kind *kind, md_engine *engine, md_comm *comm, const md_model *model,
                     const md_fix_end *end)
{
  md_measure measure;
  md_action action;
  bool acts;
  MD_TRY(md_measure_ranks(kind, engine, comm, model, md_computes_want(&end->compute, 1), &measure));
  MD_TRY(md_fix_end_action(model, end, &measure, &action, &acts));
  return acts ? md_comm_agree(comm, kind->act(engine, &action)) : MD_OK;
}

md_status md_fix_end_run(const md_engine_kind *kind, md_engine *engine, md_comm *comm, const md_model *model,
                         int64_t n)
{
  const int64_t last = model->step + n;
  for (int64_t due; (due = md_fix_end_due(model, model->step + 1)) <= last;) {
    MD_TRY(md_comm_agree(comm, kind->run(engine, due - model->step)));
    for (int f = 0; f < model->nend; ++f)
      if (due % model->end[f].every == 0) MD_TRY(act(kind, engine, comm, model, &model->end[f]));
  }
  return model->step < last ? kind->run(engine, last - model->step) : MD_OK;
}
