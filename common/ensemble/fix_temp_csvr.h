/* fix temp/csvr: stochastic rescaling of velocities after every step, after Bussi, Donadio and Parrinello. Beside fix
 * nve it gives a canonical ensemble. With the kinetic energy K, the f degrees of freedom and K0 = f T/2:
 *
 *   K'/K = c + (1 - c) K0/(f K) (R^2 + S) + 2 R sqrt(c (1 - c) K0/(f K))        c = exp(-dt/TDAMP)
 *
 * R is normal, and S is the sum of f - 1 squares of normal numbers: twice a number of the gamma distribution of the
 * shape (f - 1)/2, by the method of Marsaglia and Tsang. Random numbers are a function of seed and step, and the same
 * on every rank. E plus the energy that the fix has taken is conserved as well as by nve.
 * References: Bussi, Donadio and Parrinello, J. Chem. Phys. 126 (2007) 014101; Marsaglia and Tsang, ACM Trans. Math.
 * Softw. 26 (2000) 363.
 *
 * Numbers of the fix: k0 TSTART, k1 TSTOP, k2 TDAMP. State: the energy that it has taken. Of its action: k0 the factor.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(temp_csvr, "temp/csvr")

#elif defined MD_FIX_END

MD_FIX_END(temp_csvr)

#elif defined MD_FIX_HOST

static md_status temp_csvr_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  (void)scope;
  MD_TRY(md_fix_takes(fix, words, 4));
  MD_TRY(parse_temperature(words->word[0], "Tstart of fix temp/csvr", &fix->k[0]));
  MD_TRY(parse_temperature(words->word[1], "Tstop of fix temp/csvr", &fix->k[1]));
  MD_TRY(md_word_positive(words->word[2], "Tdamp of fix temp/csvr", &fix->k[2]));
  return md_word_int64(words->word[3], "the seed of fix temp/csvr", 1, INT64_MAX, &fix->seed);
}

static md_status temp_csvr_join(const md_fix *fix, md_model *model)
{
  if (!(fix->k[0] >= 0.0 && fix->k[1] >= 0.0 && fix->k[2] > 0.0))
    return md_error(MD_USAGE, "fix temp/csvr: temperatures must be zero or positive, and Tdamp positive");
  model->hottest = md_max(model->hottest, model->units->boltz * md_max(fix->k[0], fix->k[1]));
  return MD_OK;
}

/* A normal number, and in *uniform another one in (0, 1). */
static double temp_csvr_normal(const md_fix *fix, const md_model *model, uint64_t draw, double *uniform)
{
  const md_random r = md_random_at((uint64_t)fix->seed, draw, md_model_draw(model), MD_STREAM_CSVR);
  *uniform = md_random_unit(r.word[3]);
  return sqrt(-2.0 * md_ln(md_random_unit53(r.word[0], r.word[1]))) * md_sin_turns(md_random_unit(r.word[2]));
}

/* The sum of the squares of n normal numbers. */
static double temp_csvr_squares(const md_fix *fix, const md_model *model, double n)
{
  double uniform;
  const double d = 0.5 * n - 1.0 / 3.0;
  if (n < 1.5) {
    const double one = temp_csvr_normal(fix, model, 1, &uniform);
    return n < 0.5 ? 0.0 : one * one;
  }
  for (uint64_t draw = 1;; ++draw) {
    const double x = temp_csvr_normal(fix, model, draw, &uniform), root = 1.0 + x / sqrt(9.0 * d);
    const double v = root * root * root;
    if (v > 0.0 && md_ln(uniform) < 0.5 * x * x + d - d * v + d * md_ln(v)) return 2.0 * d * v;
  }
}

static md_status temp_csvr_end(const md_fix *fix, const md_model *model, const md_step *step,
                               const double *value, md_action *action, bool *acts)
{
  const double freedom = value[MD_TEMPERATURE_FREEDOM],
               target = model->units->boltz * md_step_ramp(step, fix->k[0], fix->k[1], 0);
  MD_TRY(check_scaling(fix, model, value, acts));
  if (!*acts) return MD_OK;
  double uniform;
  const double c = md_exp(-model->dt / fix->k[2]);
  const double more = (1.0 - c) * (0.5 * freedom * target) / (value[MD_TEMPERATURE_KINETIC] * freedom);
  const double r = temp_csvr_normal(fix, model, 0, &uniform),
               s = temp_csvr_squares(fix, model, freedom - 1.0);
  action->k[0] = sqrt(md_max(c + more * (r * r + s) + 2.0 * r * sqrt(c * more), 0.0));
  return MD_OK;
}

static md_status temp_csvr_prepare(const md_fix *fix, const md_model *model, md_action *action)
{
  (void)action;
  return prepare_scaling(fix, model);
}

static int64_t temp_csvr_every(const md_fix *fix)
{
  (void)fix;
  return 1;
}

static const md_fix_style temp_csvr_style = {
    .name = "temp/csvr",
    .usage = "temp/csvr TSTART TSTOP TDAMP SEED",
    .help = "together with fix nve, scales velocities after every step, by random factors that give a\n"
            "canonical ensemble. The target ramps in a run. f_ID is the energy that the fix has taken, also\n"
            "in ecouple",
    .forgets = "the velocities that it scales are rounded",
    .takes_temp = true,
    .nstate = 1,
    .parse = temp_csvr_parse,
    .join = temp_csvr_join,
    .prepare = temp_csvr_prepare,
    .every = temp_csvr_every,
    .scaling = MD_SCALES_ALIKE,
    .measures = MD_COMPUTE_temp,
    .end = temp_csvr_end,
    .account = account_scaling,
    .coupled = coupled_by_scaling,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_temp_csvr_end(const md_action *a, const md_step *s, md_particle *p)
{
  md_step_scale(s, &a->bias, a->k[0], p);
}

#endif
