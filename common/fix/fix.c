/* The table of fix styles, and how fixes become settings and actions of a model; see fix.h. */
#include "common/fix/fix.h"
#include "common/model.h"
#include "common/step/step.h"

#include <string.h>

/* For every integrator: there can be one. */
static md_status join_integrator(const md_fix *fix, md_model *model, md_integrator integrator)
{
  if (model->integrator != MD_STATIC)
    return md_error(MD_USAGE, "fix %s: another fix moves the particles already; unfix it first",
                    md_fix_style_of(fix->kind)->name);
  model->integrator = integrator;
  model->moving = md_group_bit(fix->group);
  return MD_OK;
}

/* A temperature among the words of a fix. */
static md_status parse_temperature(const char *word, const char *what, double *temperature)
{
  MD_TRY(md_word_double(word, what, temperature));
  if (*temperature < 0.0) return md_error(MD_USAGE, "%s must be zero or positive, not %.64s", what, word);
  return MD_OK;
}

/* ---- for thermostats that scale the velocities of their group behind steps ---- */

static md_status prepare_scaling(const md_fix *fix, const md_model *model)
{
  const char *name = md_fix_style_of(fix->kind)->name;
  if (model->dt == 0.0) return md_error(MD_USAGE, "fix %s needs a timestep above 0", name);
  if (model->integrator != MD_NVE)
    return md_error(MD_USAGE, "fix %s needs fix nve to move the particles", name);
  return MD_OK;
}

/* Can the velocities be scaled to another temperature? *acts becomes false for a single particle, which has no degree
 * of freedom. MD_PHYSICS: nothing moves. */
static md_status check_scaling(const md_fix *fix, const md_model *model, double temperature, bool *acts)
{
  if (md_model_group_count(model, fix->group) == 1) {
    *acts = false;
    return MD_OK;
  }
  if (temperature > 0.0) return MD_OK;
  return md_error(
      MD_PHYSICS,
      "step %lld: the temperature of fix %s is 0: no particle of the group %s moves, and no factor "
      "gives the velocities another temperature; begin with `velocity all create`",
      (long long)model->step, md_fix_style_of(fix->kind)->name, model->groups.name[fix->group]);
}

#define MD_FIX_HOST
#include "common/fix/fix_styles.h"
#undef MD_FIX_HOST

static const md_fix_style *const styles[] = {
#define MD_FIX_STYLE(symbol, label) &symbol##_style,
#include "common/fix/fix_styles.h"
#undef MD_FIX_STYLE
};

static const bool acts_in_middle[MD_FIX_KINDS] = {
#define MD_FIX_MIDDLE(symbol) [MD_FIX_##symbol] = true,
#include "common/fix/fix_styles.h"
#undef MD_FIX_MIDDLE
};

static const bool acts_at_end[MD_FIX_KINDS] = {
#define MD_FIX_END(symbol) [MD_FIX_##symbol] = true,
#include "common/fix/fix_styles.h"
#undef MD_FIX_END
};

const md_fix_style *md_fix_style_of(md_fix_kind kind) { return styles[kind]; }

md_fix_kind md_fix_find(const char *name)
{
  int kind = 0;
  while (kind < MD_FIX_KINDS && strcmp(styles[kind]->name, name) != 0) ++kind;
  return (md_fix_kind)kind;
}

md_status md_fix_takes(const md_fix *fix, const md_words *words, int n)
{
  const char *name = styles[fix->kind]->name;
  if (words->n == n) return MD_OK;
  if (words->n > n) return md_error(MD_USAGE, "fix %s: unexpected '%.64s'", name, words->word[n]);
  return md_error(MD_USAGE, "fix %s takes %d arguments behind its name, not %d", name, n, words->n);
}

md_status md_fixes_join(md_model *model)
{
  model->integrator = MD_STATIC;
  model->moving = MD_GROUP_ALL;
  model->float_drift = false;
  model->hottest = 0.0;
  memset(model->wall, 0, sizeof model->wall);
  for (int f = 0; f < model->nfix; ++f) MD_TRY(styles[model->fix[f].kind]->join(&model->fix[f], model));
  return MD_OK;
}

static md_status check_style(md_fix_kind kind)
{
  const md_fix_style *style = styles[kind];
  const bool middle = acts_in_middle[kind], end = acts_at_end[kind];
  if (end == (style->every != NULL) && end == (style->end != NULL) && (!middle || style->prepare) &&
      (middle || end || !style->prepare))
    return MD_OK;
  return md_error(MD_RUNTIME, "fix %s: its file lacks a part, or has one too many (fix.h)", style->name);
}

static md_status add_middle(md_model *model, const md_action *action)
{
  if (model->nmiddle == MD_MIDDLES_MAX)
    return md_error(MD_USAGE, "fix %s: at most %d fixes may act within a step", styles[action->kind]->name,
                    MD_MIDDLES_MAX);
  model->middle[model->nmiddle++] = *action;
  return MD_OK;
}

static md_status add_end(md_model *model, int f, const md_action *action)
{
  const md_fix *fix = &model->fix[f];
  const md_fix_style *style = styles[fix->kind];
  md_fix_end *end = &model->end[model->nend++];
  *end = (md_fix_end){.fix = f,
                      .every = style->every(fix),
                      .action = *action,
                      .compute = {.kind = style->measures, .group = fix->group}};
  return md_compute_join(model, &end->compute);
}

md_status md_fixes_prepare(md_model *model)
{
  model->nmiddle = model->nend = 0;
  for (int f = 0; f < model->nfix; ++f) {
    const md_fix *fix = &model->fix[f];
    const md_fix_kind kind = fix->kind;
    MD_TRY(check_style(kind));
    md_action action = {.kind = kind, .group = md_group_bit(fix->group), .seed = (uint64_t)fix->seed};
    if (styles[kind]->prepare) MD_TRY(styles[kind]->prepare(fix, model, &action));
    if (acts_in_middle[kind]) MD_TRY(add_middle(model, &action));
    if (acts_at_end[kind]) MD_TRY(add_end(model, f, &action));
  }
  return MD_OK;
}

md_status md_fix_end_action(const md_model *model, const md_fix_end *end, const md_measure *measure,
                            md_action *action, bool *acts)
{
  const md_fix *fix = &model->fix[end->fix];
  const md_step step = md_step_of(model);
  double value[MD_COMPUTE_TERMS] = {0.0};
  md_compute_evaluate(model, &end->compute, measure, value);
  *action = end->action;
  *acts = true;
  return styles[fix->kind]->end(fix, model, &step, value, action, acts);
}
