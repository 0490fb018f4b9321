/* fix nve/limit: velocity Verlet with a limit of speed, for systems that begin with particles too near to one another.
 * After each of the two kicks of a step a velocity that would take its particle farther than XMAX in a timestep is
 * scaled down:
 *
 *   v' = v XMAX/(|v| dt)   where |v| dt > XMAX
 *
 * Trade-off: energy and momentum of such particles are lost. Pairs nearer than the exact range of impulses
 * (common/model.h) are an error as with fix nve.
 * Cost: steps are run one at a time, with a pass over the particles after each.
 *
 * Numbers of the fix: k0 XMAX. Of its action: k0 the square of the largest speed.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(nve_limit, "nve/limit")

#elif defined MD_FIX_DRIFT

MD_FIX_DRIFT(nve_limit)

#elif defined MD_FIX_END

MD_FIX_END(nve_limit)

#elif defined MD_FIX_HOST

static md_status nve_limit_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  (void)scope;
  MD_TRY(md_fix_takes(fix, words, 1));
  return md_word_positive(words->word[0], "xmax of fix nve/limit", &fix->k[0]);
}

static md_status nve_limit_join(const md_fix *fix, md_model *model)
{
  if (!(fix->k[0] > 0.0)) return md_error(MD_USAGE, "fix nve/limit: xmax must be positive");
  return join_integrator(fix, model, MD_NVE);
}

static md_status nve_limit_prepare(const md_fix *fix, const md_model *model, md_action *action)
{
  MD_TRY(prepare_scaling(fix, model));
  const double most = fix->k[0] / model->dt;
  action->k[0] = most * most;
  return MD_OK;
}

static int64_t nve_limit_every(const md_fix *fix)
{
  (void)fix;
  return 1;
}

static md_status nve_limit_end(const md_fix *fix, const md_model *model, const md_step *step,
                               const double *value, md_action *action, bool *acts)
{
  (void)fix;
  (void)model;
  (void)step;
  (void)value;
  (void)action;
  (void)acts;
  return MD_OK;
}

static const md_fix_style nve_limit_style = {
    .name = "nve/limit",
    .usage = "nve/limit XMAX",
    .help =
        "velocity Verlet; a velocity that would take a particle farther than XMAX in a step is scaled down,\n"
        "for systems that begin with overlaps",
    .forgets = "the velocities that it limits are not kept",
    .parse = nve_limit_parse,
    .join = nve_limit_join,
    .prepare = nve_limit_prepare,
    .every = nve_limit_every,
    .measures = MD_COMPUTE_KINDS,
    .end = nve_limit_end,
    .integrates = true,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_nve_limit_end(const md_action *a, const md_step *s, md_particle *p)
{
  double speed2 = 0.0;
  for (int d = 0; d < 3 && d < s->dim; ++d) {
    const double velocity = p->v[d] * p->velocity_per_v;
    speed2 = fma(velocity, velocity, speed2);
  }
  if (!(speed2 > a->k[0])) return;
  const double scale = sqrt(a->k[0] / speed2);
  for (int d = 0; d < 3 && d < s->dim; ++d) p->v[d] = md_round_to(scale * p->v[d], p->v_step);
}

MD_FN bool md_nve_limit_drift(const md_action *a, const md_step *s, int64_t done, md_particle *p,
                              double by[3])
{
  (void)done;
  (void)by;
  md_nve_limit_end(a, s, p);
  return true;
}

#endif
