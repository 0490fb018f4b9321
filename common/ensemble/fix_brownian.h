/* fix brownian: motion without inertia in a medium, by friction, forces and noise (overdamped Langevin dynamics).
 *
 *   x' = x + v dt,   v = F/gamma + sqrt(2 kB T/(gamma dt)) xi
 *
 * xi has mean 0 and variance 1, and is uniform or Gaussian, or 0. The Gaussian one is made as by Box and Muller, from
 * logarithm, root and sine that have the same bits everywhere (common/arithmetic/real.h). The velocity that is shown is
 * the displacement of the last step over dt, as in LAMMPS: it says nothing of a temperature.
 *
 * Trade-off: of first order in dt (Euler and Maruyama). Masses have no influence but on the grid of velocities.
 * Cost: general passes (common/fix/fix.h).
 * References: Ermak and McCammon, J. Chem. Phys. 69 (1978) 1352; Box and Muller, Ann. Math. Stat. 29 (1958) 610.
 *
 * Numbers of the fix: k0 T, k1 gamma, k2 kind of noise: 0 none, 1 uniform, 2 Gaussian. Of its action: k0 1/(gamma dt),
 * k1 the size of the noise, k2 as that of the fix.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(brownian, "brownian")

#elif defined MD_FIX_DRIFT

MD_FIX_DRIFT(brownian)

#elif defined MD_FIX_HOST

static md_status brownian_read_noise(md_fix *fix, const char *word)
{
  static const char *const name[] = {"none", "uniform", "gaussian"};
  for (int k = 0; k < 3; ++k)
    if (strcmp(word, name[k]) == 0) {
      fix->k[2] = k;
      return MD_OK;
    }
  return md_error(MD_USAGE, "fix brownian rng: '%.64s' is unknown; accepted are uniform, gaussian and none",
                  word);
}

static md_status brownian_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  (void)scope;
  if (words->n < 4)
    return md_error(MD_USAGE, "fix brownian takes a temperature, a seed and gamma_t GAMMA after its name");
  MD_TRY(parse_temperature(words->word[0], "the temperature of fix brownian", &fix->k[0]));
  MD_TRY(md_word_int64(words->word[1], "the seed of fix brownian", 1, INT64_MAX, &fix->seed));
  fix->k[2] = 1.0;
  for (int w = 2; w < words->n; w += 2) {
    const char *keyword = words->word[w];
    if (strcmp(keyword, "gamma_t") != 0 && strcmp(keyword, "rng") != 0)
      return md_error(MD_USAGE,
                      "fix brownian: unknown keyword '%.64s'; accepted are gamma_t GAMMA and rng "
                      "uniform|gaussian|none",
                      keyword);
    if (w + 1 == words->n) return md_error(MD_USAGE, "fix brownian %s: a value is missing", keyword);
    if (keyword[0] == 'g')
      MD_TRY(md_word_positive(words->word[w + 1], "gamma_t of fix brownian", &fix->k[1]));
    else
      MD_TRY(brownian_read_noise(fix, words->word[w + 1]));
  }
  return fix->k[1] > 0.0 ? MD_OK : md_error(MD_USAGE, "fix brownian needs gamma_t GAMMA");
}

static md_status brownian_join(const md_fix *fix, md_model *model)
{
  if (!(fix->k[0] >= 0.0 && fix->k[1] > 0.0))
    return md_error(MD_USAGE, "fix brownian: its temperature must be zero or positive, and gamma_t positive");
  model->hottest = md_max(model->hottest, model->units->boltz * fix->k[0]);
  return join_integrator(fix, model, MD_LEAPFROG);
}

static md_status brownian_prepare(const md_fix *fix, const md_model *model, md_action *action)
{
  if (model->dt == 0.0) return md_error(MD_USAGE, "fix brownian needs a timestep above 0");
  const double gamma = fix->k[1] * model->units->mvv2e;
  action->k[0] = 1.0 / (gamma * model->dt);
  action->k[1] = sqrt(2.0 * model->units->boltz * fix->k[0] / (gamma * model->dt));
  action->k[2] = fix->k[2];
  return MD_OK;
}

static const md_fix_style brownian_style = {
    .name = "brownian",
    .usage = "brownian T SEED gamma_t GAMMA [rng uniform|gaussian|none]",
    .help =
        "moves the particles without inertia: the friction GAMMA v, forces and noise of the temperature T\n"
        "balance. The velocities shown are displacements over the timestep. rng: of the noise",
    .forgets = "its random moves and its friction take digits away",
    .parse = brownian_parse,
    .join = brownian_join,
    .prepare = brownian_prepare,
};

#elif defined MD_FIX_FORMULAS

/* A random number of mean 0 and variance 1 for each axis. kind: 1 uniform, 2 Gaussian. */
MD_FN void md_brownian_noise(const md_action *a, const md_step *s, uint64_t step, const md_particle *p,
                             double xi[3])
{
  if (a->k[2] == 1.0) {
    const md_random r = md_random_at(a->seed, p->id, step, MD_STREAM_BROWNIAN);
    for (int d = 0; d < 3; ++d) xi[d] = sqrt(12.0) * (md_random_unit(r.word[d]) - 0.5);
    return;
  }
  for (int d = 0; d < 3 && d < s->dim; ++d) {
    const md_random r = md_random_at(a->seed, p->id, step, MD_STREAM_BROWNIAN + (uint32_t)d);
    xi[d] =
        sqrt(-2.0 * md_ln(md_random_unit53(r.word[0], r.word[1]))) * md_sin_turns(md_random_unit(r.word[2]));
  }
}

MD_FN bool md_brownian_drift(const md_action *a, const md_step *s, int64_t done, md_particle *p, double by[3])
{
  double xi[3] = {0.0, 0.0, 0.0};
  (void)by;
  if (a->k[2] != 0.0) md_brownian_noise(a, s, s->draw + (uint64_t)done, p, xi);
  for (int d = 0; d < 3 && d < s->dim; ++d)
    p->v[d] =
        md_round_to(fma(a->k[0] * p->mass, p->impulse[d], a->k[1] * xi[d] / p->velocity_per_v), p->v_step);
  return true;
}

#endif
