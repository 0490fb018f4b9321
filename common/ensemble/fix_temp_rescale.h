/* fix temp/rescale: scales velocities to a temperature, after every step whose number is a multiple of N.
 *
 *   v' = v sqrt(T'/T)  if |T - target| > WINDOW,   T' = T - FRACTION (T - target)
 *
 * T is the temperature of the group after the step, as compute temp has it, or that of fix_modify temp, whose bias is
 * not scaled. The target goes linearly from TSTART to
 * TSTOP in a run.
 *
 * Trade-off: a system reaches the target at once. But the velocities do not have the distribution of a canonical
 * ensemble.
 * Reference: Woodcock, Chem. Phys. Lett. 10 (1971) 257.
 *
 * Numbers of the fix: k0 N, k1 TSTART, k2 TSTOP, k3 WINDOW, k4 FRACTION. State: the energy that it has taken. Of its
 * action: k0 the factor.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(temp_rescale, "temp/rescale")

#elif defined MD_FIX_END

MD_FIX_END(temp_rescale)

#elif defined MD_FIX_HOST

static md_status temp_rescale_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  (void)scope;
  int64_t every;
  MD_TRY(md_fix_takes(fix, words, 5));
  MD_TRY(md_word_int64(words->word[0], "N of fix temp/rescale", 1, INT64_C(1) << 53, &every));
  fix->k[0] = (double)every;
  MD_TRY(parse_temperature(words->word[1], "Tstart of fix temp/rescale", &fix->k[1]));
  MD_TRY(parse_temperature(words->word[2], "Tstop of fix temp/rescale", &fix->k[2]));
  MD_TRY(parse_temperature(words->word[3], "the window of fix temp/rescale", &fix->k[3]));
  MD_TRY(md_word_positive(words->word[4], "the fraction of fix temp/rescale", &fix->k[4]));
  if (fix->k[4] <= 1.0) return MD_OK;
  return md_error(MD_USAGE, "the fraction of fix temp/rescale must be at most 1, not %.64s", words->word[4]);
}

static md_status temp_rescale_join(const md_fix *fix, md_model *model)
{
  const double *k = fix->k;
  if (!(k[0] >= 1.0 && k[0] <= 0x1p53 && k[1] >= 0.0 && k[2] >= 0.0 && k[3] >= 0.0 && k[4] > 0.0 &&
        k[4] <= 1.0))
    return md_error(MD_USAGE,
                    "fix temp/rescale: N must be at least 1, temperatures and window must be zero or "
                    "positive, and the fraction must be above 0 and at most 1");
  model->hottest = md_max(model->hottest, model->units->boltz * md_max(k[1], k[2]));
  return MD_OK;
}

static md_status temp_rescale_prepare(const md_fix *fix, const md_model *model, md_action *action)
{
  (void)action;
  return prepare_scaling(fix, model);
}

static int64_t temp_rescale_every(const md_fix *fix) { return (int64_t)fix->k[0]; }

static md_status temp_rescale_end(const md_fix *fix, const md_model *model, const md_step *step,
                                  const double *value, md_action *action, bool *acts)
{
  const double temperature = value[0], target = md_step_ramp(step, fix->k[1], fix->k[2], 0);
  MD_TRY(check_scaling(fix, model, value, acts));
  if (!(fabs(temperature - target) > fix->k[3])) *acts = false;
  if (*acts) action->k[0] = sqrt((temperature - fix->k[4] * (temperature - target)) / temperature);
  return MD_OK;
}

static const md_fix_style temp_rescale_style = {
    .name = "temp/rescale",
    .usage = "temp/rescale N TSTART TSTOP WINDOW FRACTION",
    .help =
        "together with fix nve, scales velocities after every N-th step, if the temperature of the group is\n"
        "farther than WINDOW from the target; FRACTION of the difference is removed. The target ramps in\n"
        "a run. f_ID is the energy that the fix has taken, also in ecouple",
    .forgets = "the velocities that it scales are rounded",
    .parse = temp_rescale_parse,
    .join = temp_rescale_join,
    .prepare = temp_rescale_prepare,
    .every = temp_rescale_every,
    .takes_temp = true,
    .nstate = 1,
    .scaling = MD_SCALES_ALIKE,
    .measures = MD_COMPUTE_temp,
    .end = temp_rescale_end,
    .account = account_scaling,
    .coupled = coupled_by_scaling,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_temp_rescale_end(const md_action *a, const md_step *s, md_particle *p)
{
  md_step_scale(s, &a->bias, a->k[0], p);
}

#endif
