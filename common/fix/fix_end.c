/* What fixes do after a step: the numbers that they get, and the box that they change; see fix.h. */
#include "common/fix/fix.h"
#include "common/model.h"
#include "common/step/step.h"

#include <string.h>

md_wanted md_fix_end_wants(const md_model *model, const md_fix_end *end)
{
  md_wanted wanted = md_computes_want(&end->compute, 1);
  wanted.impulses = end->parts != MD_PARTS_NONE && model->virial_quantum > 0.0;
  if (end->parts == MD_PARTS_ALL) wanted.virial = true;
  if (end->parts != MD_PARTS_AXES) return wanted;
  const md_wanted tensor = md_computes_want(&end->tensor, 1);
  wanted.tensor = wanted.diagonal = true;
  wanted.summands |= tensor.summands;
  return wanted;
}

bool md_fixes_undo_shear(const md_model *model)
{
  bool any = false;
  for (int f = 0; f < model->nfix; ++f) {
    const md_fix_style *style = md_fix_style_of(model->fix[f].kind);
    any = any || (style->undoes && style->undoes(&model->fix[f]));
  }
  return any;
}

md_status md_fixes_begin_back(md_model *model, int64_t last)
{
  for (int f = 0; f < model->nfix; ++f) {
    const md_fix_style *style = md_fix_style_of(model->fix[f].kind);
    if (style->begin_back) MD_TRY(style->begin_back(&model->fix[f], model, last));
  }
  return MD_OK;
}

/* Keeps the box in *move. */
static void stay(const md_model *model, md_box_move *move)
{
  *move = (md_box_move){.pending = false};
  for (int d = 0; d < 3; ++d) {
    move->lo[d] = model->box.lo[d];
    move->hi[d] = model->box.hi[d];
    move->stretch[d] = 1.0;
    move->tilt[d] = model->box.tilt[d];
  }
}

void md_fixes_shear_to(md_model *model, int64_t step, bool after)
{
  md_box_move *move = &model->move;
  stay(model, move);
  for (int f = 0; f < model->nfix; ++f) {
    const md_fix_style *style = md_fix_style_of(model->fix[f].kind);
    if (style->undoes && style->undoes(&model->fix[f]))
      style->box_at(&model->fix[f], model, step, after, move);
  }
  move->undoes = !after;
  for (int k = 0; k < 3; ++k) move->pending = move->pending || move->tilt[k] != model->box.tilt[k];
}

enum { FIX_VALUES = MD_COMPUTE_TERMS + MD_FIX_PARTS };

/* The numbers that the fix gets of a measure. */
static void evaluate(const md_model *model, const md_fix_end *end, const md_measure *measure, double *value)
{
  const md_wanted wanted = md_fix_end_wants(model, end);
  const double tail = md_model_tail_virial(model);
  double *part = value + MD_COMPUTE_TERMS;
  md_compute_evaluate(model, &end->compute, measure, value);
  if (end->parts == MD_PARTS_ALL) {
    part[0] = 2.0 * value[MD_TEMPERATURE_KINETIC];
    part[3] = md_virial_of(model, wanted, &measure->virial2) + md_trace(measure->fix_virial) + 3.0 * tail;
  }
  for (int d = 0; d < model->box.dim && end->parts == MD_PARTS_AXES; ++d) {
    const md_summand *s = &model->summand[end->tensor.summand];
    part[d] = 2.0 * md_wide_value(&measure->term[s->first + d], s->unit[d]);
    part[3 + d] = md_virial_of(model, wanted, &measure->tensor2[d]) + measure->fix_virial[d] + tail;
  }
}

bool md_fix_end_knows(const md_model *model, const md_fix_end *end)
{
  const md_fix *fix = &model->fix[end->fix];
  return md_fix_style_of(fix->kind)->half && fix->state[MD_FIX_KNOWN] == 1.0;
}

void md_fix_end_compare(md_model *model, const md_fix_end *end, const md_measure *measure)
{
  double *state = model->fix[end->fix].state, value[FIX_VALUES] = {0.0};
  evaluate(model, end, measure, value);
  /* The temperature follows from its energy. Fixes that scale velocities keep the energy alone. */
  for (int k = MD_TEMPERATURE_KINETIC; k < FIX_VALUES; ++k) {
    const double known = state[MD_FIX_VALUES + k];
    if (!(fabs(value[k] - known) <= 1e-9 * fabs(known))) state[MD_FIX_KNOWN] = 0.0;
  }
}

/* Lets a fix change the box of the next step. */
static md_status move_box(md_model *model, md_fix *fix, bool before, const double *value)
{
  md_box_move move = model->move;
  if (!move.pending) stay(model, &move);
  MD_TRY(md_fix_style_of(fix->kind)->move_box(fix, model, before, value, &move));
  const bool pending = model->move.pending;
  model->move = move;
  MD_TRY(md_model_check_move(model));
  model->move.pending = pending;
  for (int d = 0; d < model->box.dim; ++d)
    if (model->move.lo[d] != model->box.lo[d] || model->move.hi[d] != model->box.hi[d] ||
        move.stretch[d] != 1.0)
      model->move.pending = true;
  for (int k = 0; k < 3; ++k)
    if (model->move.tilt[k] != model->box.tilt[k]) model->move.pending = true;
  return MD_OK;
}

md_status md_fix_end_action(md_model *model, const md_fix_end *end, const md_measure *measure, bool before,
                            md_action *action, bool *acts)
{
  md_fix *fix = &model->fix[end->fix];
  const md_fix_style *style = md_fix_style_of(fix->kind);
  const md_step step = md_step_of(model);
  double value[FIX_VALUES] = {0.0};
  if (measure)
    evaluate(model, end, measure, value);
  else if (style->half)
    memcpy(value, fix->state + MD_FIX_VALUES, sizeof value);
  *action = end->action;
  *acts = true;
  if (action->bias.kind == MD_BIAS_SHIFT)
    memcpy(action->bias.k, value + MD_TEMPERATURE_FLOW, 3 * sizeof *value);
  if (style->half)
    MD_TRY(style->half(fix, model, &step, before, value, action, acts));
  else if (style->end)
    MD_TRY(style->end(fix, model, &step, value, action, acts));
  else
    *acts = false;
  if (style->account && *acts) style->account(fix, model, value, action);
  if (style->shifts_once && (*acts || before) && end->drift >= 0)
    MD_TRY(style->prepare(fix, model, &model->middle[end->drift]));
  if (style->move_box) MD_TRY(move_box(model, fix, before, value));
  if (!style->half) return MD_OK;
  fix->state[MD_FIX_KNOWN] = before ? 0.0 : 1.0;
  memcpy(fix->state + MD_FIX_VALUES, value, sizeof value);
  return MD_OK;
}

bool md_fixes_shift(const md_model *model)
{
  for (int e = 0; e < model->nend; ++e) {
    const md_fix *fix = &model->fix[model->end[e].fix];
    if (md_fix_style_of(fix->kind)->shifts_once && fix->state[0] == 1.0) return true;
  }
  return false;
}

md_status md_fixes_end_shift(md_model *model)
{
  for (int e = 0; e < model->nend; ++e) {
    md_fix *fix = &model->fix[model->end[e].fix];
    const md_fix_style *style = md_fix_style_of(fix->kind);
    if (!style->shifts_once || fix->state[0] != 1.0) continue;
    fix->state[0] = 0.0;
    MD_TRY(style->prepare(fix, model, &model->middle[model->end[e].drift]));
  }
  return MD_OK;
}

void md_fix_end_tally(md_model *model, const md_fix_end *end, const md_measure *before,
                      const md_measure *after)
{
  double was[MD_COMPUTE_TERMS] = {0.0}, is[MD_COMPUTE_TERMS] = {0.0};
  md_compute_evaluate(model, &end->compute, before, was);
  md_compute_evaluate(model, &end->compute, after, is);
  model->fix[end->fix].state[0] += was[MD_TEMPERATURE_KINETIC] - is[MD_TEMPERATURE_KINETIC];
}

/* The index among those that act after steps; model->nend: it does not. */
static int find_end(const md_model *model, int f)
{
  int e = 0;
  while (e < model->nend && model->end[e].fix != f) ++e;
  return e;
}

bool md_fix_is_coupled(const md_model *model, int f)
{
  const md_fix *fix = &model->fix[f];
  const md_fix_style *style = md_fix_style_of(fix->kind);
  return style->coupled && style->every(fix) > 0;
}

double md_fix_coupled(const md_model *model, int f)
{
  if (!md_fix_is_coupled(model, f)) return 0.0;
  const md_fix *fix = &model->fix[f];
  const md_step step = md_step_of(model);
  const md_compute *compute = &model->end[find_end(model, f)].compute;
  return md_fix_style_of(fix->kind)->coupled(fix, model, &step, md_temperature_freedom(model, compute));
}
