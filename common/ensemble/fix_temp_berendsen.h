/* fix temp/berendsen: a thermostat. It scales velocities after every step, so that the temperature goes to the target
 * in the time TDAMP.
 *
 *   v' = v sqrt(1 + (dt/TDAMP) (target/T - 1))
 *
 * T is the temperature of the group after the step, as compute temp has it, or that of fix_modify temp, whose bias is
 * not scaled. The target goes linearly from TSTART to
 * TSTOP in a run. TDAMP is at least a timestep, so that the root exists.
 *
 * Trade-off: the temperature has no oscillations on its way. But the fluctuations of the kinetic energy are smaller
 * than those of a canonical ensemble.
 * Reference: Berendsen, Postma, van Gunsteren, DiNola and Haak, J. Chem. Phys. 81 (1984) 3684.
 *
 * Numbers of the fix: k0 TSTART, k1 TSTOP, k2 TDAMP. State: the energy that it has taken. Of its action: k0 the factor.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(temp_berendsen, "temp/berendsen")

#elif defined MD_FIX_END

MD_FIX_END(temp_berendsen)

#elif defined MD_FIX_HOST

static md_status temp_berendsen_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  (void)scope;
  MD_TRY(md_fix_takes(fix, words, 3));
  MD_TRY(parse_temperature(words->word[0], "Tstart of fix temp/berendsen", &fix->k[0]));
  MD_TRY(parse_temperature(words->word[1], "Tstop of fix temp/berendsen", &fix->k[1]));
  return md_word_positive(words->word[2], "Tdamp of fix temp/berendsen", &fix->k[2]);
}

static md_status temp_berendsen_join(const md_fix *fix, md_model *model)
{
  if (!(fix->k[0] >= 0.0 && fix->k[1] >= 0.0 && fix->k[2] > 0.0))
    return md_error(MD_USAGE,
                    "fix temp/berendsen: temperatures must be zero or positive, and Tdamp positive");
  model->hottest = md_max(model->hottest, model->units->boltz * md_max(fix->k[0], fix->k[1]));
  return MD_OK;
}

static md_status temp_berendsen_prepare(const md_fix *fix, const md_model *model, md_action *action)
{
  (void)action;
  if (!(model->dt <= fix->k[2]))
    return md_error(MD_USAGE, "fix temp/berendsen: Tdamp, %g, must be at least the timestep, %g", fix->k[2],
                    model->dt);
  return prepare_scaling(fix, model);
}

static int64_t temp_berendsen_every(const md_fix *fix)
{
  (void)fix;
  return 1;
}

static md_status temp_berendsen_end(const md_fix *fix, const md_model *model, const md_step *step,
                                    const double *value, md_action *action, bool *acts)
{
  const double temperature = value[0], target = md_step_ramp(step, fix->k[0], fix->k[1], 0);
  MD_TRY(check_scaling(fix, model, value, acts));
  if (*acts) action->k[0] = sqrt(1.0 + model->dt / fix->k[2] * (target / temperature - 1.0));
  return MD_OK;
}

static const md_fix_style temp_berendsen_style = {
    .name = "temp/berendsen",
    .usage = "temp/berendsen TSTART TSTOP TDAMP",
    .help = "together with fix nve, scales velocities after every step, so that the temperature of the\n"
            "group goes to the target in the time TDAMP. The target ramps in a run. f_ID is the energy that\n"
            "the fix has taken, also in ecouple",
    .forgets = "the velocities that it scales are rounded",
    .parse = temp_berendsen_parse,
    .join = temp_berendsen_join,
    .prepare = temp_berendsen_prepare,
    .every = temp_berendsen_every,
    .takes_temp = true,
    .nstate = 1,
    .scaling = MD_SCALES_ALIKE,
    .measures = MD_COMPUTE_temp,
    .end = temp_berendsen_end,
    .account = account_scaling,
    .coupled = coupled_by_scaling,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_temp_berendsen_end(const md_action *a, const md_step *s, md_particle *p)
{
  md_step_scale(s, &a->bias, a->k[0], p);
}

#endif
