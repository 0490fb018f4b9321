/* Numbers of fixes that variables give; see fix_vary.h. */
#include "src/fixes/fix_vary.h"
#include "common/ranks/reductions.h"

#include <stdio.h>

static md_status value_of(void *context, const md_fix *fix, int v, double *value)
{
  md_sim *sim = context;
  const char *style = md_fix_style_of(fix->kind)->name;
  const uint64_t drawn = md_variables_drawn(sim->variables);
  char formula[64];
  snprintf(formula, sizeof formula, "v_%s", fix->varied[v].name);
  const md_status status = md_variables_formula(sim->variables, formula, value);
  if (status != MD_OK) md_error_prefix("fix %s: ", style);
  if (status != MD_OK || md_variables_drawn(sim->variables) == drawn) return status;
  return md_error(MD_USAGE, "fix %s: %s draws random numbers, and would have several values at a step", style,
                  formula);
}

static md_status fill(md_sim *sim, int64_t n)
{
  md_model *model = &sim->model;
  const int64_t now = model->step;
  md_status status = MD_OK;
  for (int64_t r = 0; r <= n && status == MD_OK; ++r) {
    model->step = model->backwards ? now - r : now + r;
    sim->foretells = r == 0 ? MD_FORETELLS_PRESENT : MD_FORETELLS_LATER;
    status = md_fixes_fill_row(model, value_of, sim, model->force_row + r * model->nforce_action);
  }
  model->step = now;
  sim->foretells = MD_FORETELLS_NOTHING;
  return status;
}

md_status md_fix_vary(md_sim *sim, int64_t n)
{
  md_model *model = &sim->model;
  if (!md_fixes_vary(model)) return MD_OK;
  if (!model->force_row)
    MD_TRY(md_array_new(&model->force_row, MD_FORCE_ROWS * MD_FORCES_MAX, sizeof *model->force_row,
                        "numbers of fixes"));
  const md_status status = fill(sim, n);
  model->force_first = model->step;
  model->force_rows = (int)n + 1;
  return status;
}

/* Runs a step whose drift variables say. */
static md_status run_varied_drift(const md_engine_kind *kind, md_engine *engine, md_sim *sim)
{
  md_model *model = &sim->model;
  ++model->step;
  sim->foretells = MD_FORETELLS_LATER;
  const md_status status = md_fixes_vary_drifts(model, value_of, sim);
  sim->foretells = MD_FORETELLS_NOTHING;
  --model->step;
  MD_TRY(status);
  MD_TRY(md_fix_vary(sim, 1));
  return md_comm_agree(sim->comm, kind->run(engine, 1));
}

md_status md_fix_vary_run(const md_engine_kind *kind, md_engine *engine, md_sim *sim, int64_t n)
{
  const md_model *model = &sim->model;
  for (; md_fixes_drift_varies(model) && n > 0; --n) MD_TRY(run_varied_drift(kind, engine, sim));
  while (md_fixes_vary(model) && n >= MD_FORCE_ROWS) {
    MD_TRY(md_fix_vary(sim, MD_FORCE_ROWS - 1));
    MD_TRY(md_comm_agree(sim->comm, kind->run(engine, MD_FORCE_ROWS - 1)));
    n -= MD_FORCE_ROWS - 1;
  }
  MD_TRY(md_fix_vary(sim, n));
  return kind->run(engine, n);
}
