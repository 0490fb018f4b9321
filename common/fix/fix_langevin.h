/* fix langevin: a thermostat. Friction and noise (an Ornstein-Uhlenbeck process) act on each velocity between the two
 * halves of the drift.
 *
 *   v' = c v + sqrt(12 T (1 - c^2)/m) (u - 1/2),   c = (1 - a)/(1 + a),   a = dt/(2 damp),   u uniform in (0, 1)
 *
 * With fix_modify temp only the thermal part of a velocity changes (common/temperature/bias.h).
 *
 * c is the Pade form of exp(-dt/damp). It needs no transcendental function, and fluctuation and dissipation balance
 * exactly. T goes linearly from TSTART to TSTOP in a run. u depends on seed, id, step and axis alone, so that threads,
 * ranks and engine do not change the result.
 *
 * Cost: one set of random numbers and dim additions on the grid for each particle and step, and general passes
 * (fix.h).
 * Reference for the order of the step, BAOAB: Leimkuhler and Matthews, Appl. Math. Res. Express 2013, 34.
 *
 * Numbers of the fix: k0 TSTART, k1 TSTOP, k2 DAMP. Numbers of its action: k0 c, k1 TSTART and k2 TSTOP as
 * energies.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(langevin, "langevin")

#elif defined MD_FIX_MIDDLE

MD_FIX_MIDDLE(langevin)

#elif defined MD_FIX_HOST

static md_status langevin_parse(md_fix *fix, const md_words *words, const md_fix_place *place)
{
  (void)place;
  MD_TRY(md_fix_takes(fix, words, 4));
  MD_TRY(parse_temperature(words->word[0], "Tstart of fix langevin", &fix->k[0]));
  MD_TRY(parse_temperature(words->word[1], "Tstop of fix langevin", &fix->k[1]));
  MD_TRY(md_word_positive(words->word[2], "damp of fix langevin", &fix->k[2]));
  return md_word_int64(words->word[3], "the seed of fix langevin", 1, INT64_MAX, &fix->seed);
}

static md_status langevin_join(const md_fix *fix, md_model *model)
{
  for (const md_fix *other = model->fix; other < fix; ++other)
    if (other->kind == MD_FIX_langevin && other->seed == fix->seed)
      return md_error(MD_USAGE,
                      "fix langevin: there is one with this seed already; give each a seed of its own");
  if (!(fix->k[0] >= 0.0 && fix->k[1] >= 0.0 && fix->k[2] > 0.0))
    return md_error(MD_USAGE, "fix langevin: temperatures must be zero or positive, and damp positive");
  model->hottest = md_max(model->hottest, model->units->boltz * md_max(fix->k[0], fix->k[1]));
  return MD_OK;
}

static md_status langevin_prepare(const md_fix *fix, const md_model *model, md_action *action)
{
  if (model->dt == 0.0) return md_error(MD_USAGE, "fix langevin needs a timestep above 0");
  if (model->integrator != MD_NVE)
    return md_error(MD_USAGE, "fix langevin needs fix nve to move the particles");
  const double a = 0.5 * model->dt / fix->k[2];
  if (!(a < 1.0)) return md_error(MD_USAGE, "fix langevin: damp must be larger than half a timestep");
  action->k[0] = (1.0 - a) / (1.0 + a);
  action->k[1] = model->units->boltz * fix->k[0];
  action->k[2] = model->units->boltz * fix->k[1];
  return MD_OK;
}

static const md_fix_style langevin_style = {
    .name = "langevin",
    .usage = "langevin TSTART TSTOP DAMP SEED",
    .help = "thermostat beside fix nve; its temperature ramps in a run",
    .takes_temp = true,
    .parse = langevin_parse,
    .join = langevin_join,
    .prepare = langevin_prepare,
};

#elif defined MD_FIX_FORMULAS

/* One application to one particle, `done` steps behind s. The new v is on the grid of v_step. */
MD_FN void md_langevin_middle(const md_action *a, const md_step *s, int64_t done, md_particle *p)
{
  if (!md_bias_counts(&a->bias, p->x)) return;
  const double temperature = md_step_ramp(s, a->k[1], a->k[2], done), keep = a->k[0];
  const double noise = sqrt(12.0 * temperature * (1.0 - keep * keep) * p->mass) / s->mass_reference;
  const md_random random = md_random_at(a->seed, p->id, s->number + (uint64_t)done, MD_STREAM_LANGEVIN);
  for (int d = 0; d < 3 && d < s->dim; ++d) {
    if (a->bias.kind == MD_BIAS_AXES && a->bias.k[d] == 0.0) continue;
    const double bias = md_bias_of(&a->bias, d, p->x, p->v[d], p->velocity_per_v);
    const double thermal = fma(keep, p->v[d] - bias, noise * (md_random_unit(random.word[d]) - 0.5));
    p->v[d] = md_round_to(bias + thermal, p->v_step);
  }
}

#endif
