/* The table of fix styles, and how fixes become settings and actions of a model; see fix.h. */
#include "common/fix/fix.h"
#include "common/model.h"

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

#define MD_FIX_HOST
#include "common/fix/fix_styles.h"
#undef MD_FIX_HOST

static const md_fix_style *const styles[] = {
#define MD_FIX_STYLE(symbol, label) &symbol##_style,
#include "common/fix/fix_styles.h"
#undef MD_FIX_STYLE
};

static const bool acts[MD_FIX_KINDS] = {
#define MD_FIX_MIDDLE(symbol) [MD_FIX_##symbol] = true,
#include "common/fix/fix_styles.h"
#undef MD_FIX_MIDDLE
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

md_status md_fixes_prepare(md_model *model)
{
  model->nmiddle = 0;
  for (int f = 0; f < model->nfix; ++f) {
    const md_fix *fix = &model->fix[f];
    const md_fix_style *style = styles[fix->kind];
    if (acts[fix->kind] != (style->prepare != NULL))
      return md_error(MD_RUNTIME, "fix %s: its file must have both prepare and MD_FIX_MIDDLE, or neither",
                      style->name);
    if (!style->prepare) continue;
    if (model->nmiddle == MD_MIDDLES_MAX)
      return md_error(MD_USAGE, "fix %s: at most %d fixes may act within a step", style->name,
                      MD_MIDDLES_MAX);
    md_action *action = &model->middle[model->nmiddle++];
    *action = (md_action){.kind = fix->kind, .group = md_group_bit(fix->group), .seed = (uint64_t)fix->seed};
    MD_TRY(style->prepare(fix, model, action));
  }
  return MD_OK;
}
