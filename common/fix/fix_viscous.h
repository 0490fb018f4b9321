/* fix viscous: friction with a medium at rest, F = -gamma v. It acts between the two halves of the drift.
 *
 *   v' = c v,   c = (1 - a)/(1 + a),   a = gamma dt/(2 m)
 *
 * c is the Pade form of exp(-gamma dt/m), which needs no transcendental function and is exact to third order in a.
 * Cost: one product for each particle, axis and step, and general passes (fix.h).
 *
 * Numbers of the fix: k0 gamma, k1 how many types have a factor of their own, k2 and on type and factor of each. Of its
 * action: k0 gamma dt/2, from k1 on as those of the fix.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(viscous, "viscous")

#elif defined MD_FIX_MIDDLE

MD_FIX_MIDDLE(viscous)

#elif defined MD_FIX_HOST

static md_status viscous_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  (void)scope;
  if (words->n == 0) return md_error(MD_USAGE, "fix viscous takes gamma after its name");
  MD_TRY(md_word_double(words->word[0], "gamma of fix viscous", &fix->k[0]));
  for (int w = 1; w < words->n; w += 3) MD_TRY(read_scale(fix, words, w, "scale TYPE FACTOR"));
  return MD_OK;
}

static md_status viscous_join(const md_fix *fix, md_model *model)
{
  if (fix->k[0] >= 0.0) return check_scales(fix, model);
  return md_error(MD_USAGE, "fix viscous: gamma must be zero or positive");
}

static md_status viscous_prepare(const md_fix *fix, const md_model *model, md_action *action)
{
  MD_TRY(prepare_scaling(fix, model));
  action->k[0] = 0.5 * fix->k[0] * model->dt;
  copy_scales(fix, action);
  return MD_OK;
}

static const md_fix_style viscous_style = {
    .name = "viscous",
    .usage = "viscous GAMMA [scale TYPE FACTOR ...]",
    .help =
        "friction -GAMMA v, together with fix nve; scale: with GAMMA times FACTOR for particles of a type",
    .forgets = "its friction takes digits of the velocities away",
    .parse = viscous_parse,
    .join = viscous_join,
    .prepare = viscous_prepare,
    .halve = halve_first,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_viscous_middle(const md_action *a, const md_step *s, int64_t done, bool again, md_particle *p)
{
  (void)done, (void)again;
  const double part = a->k[0] * md_action_scale(a, p->type) / p->mass, keep = (1.0 - part) / (1.0 + part);
  for (int d = 0; d < 3 && d < s->dim; ++d) p->v[d] = md_round_to(keep * p->v[d], p->v_step);
}

#endif
