/* fix langevin: a thermostat. Friction and noise (an Ornstein-Uhlenbeck process) act on each velocity between the two
 * halves of the drift; with `tally yes` after each step instead, where sums over the particles before and after give
 * the energy that the bath takes.
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
 * (common/fix/fix.h).
 * Reference for the order of the step, BAOAB: Leimkuhler and Matthews, Appl. Math. Res. Express 2013, 34.
 *
 * Numbers of the fix: k0 TSTART, k1 TSTOP, k2 DAMP, k3 1 with tally, from MD_SCALES on factors of DAMP. Numbers of its
 * action: k0 c, k1 TSTART and k2 TSTOP as energies, k3 a, from MD_SCALES on the same. State: the energy taken from the
 * particles.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(langevin, "langevin")

#elif defined MD_FIX_MIDDLE

MD_FIX_MIDDLE(langevin)

#elif defined MD_FIX_END

MD_FIX_END(langevin)

#elif defined MD_FIX_HOST

/* Reads the keywords from word 4 on. */
static md_status langevin_keywords(md_fix *fix, const md_words *words)
{
  for (int w = 4, takes; w < words->n; w += takes) {
    const char *keyword = words->word[w];
    const bool tally = strcmp(keyword, "tally") == 0, zero = strcmp(keyword, "zero") == 0;
    bool yes = false;
    takes = tally || zero ? 2 : 3;
    if (takes == 3) MD_TRY(read_scale(fix, words, w, "scale TYPE FACTOR, tally yes|no and zero no"));
    if (takes == 3) continue;
    if (w + 1 == words->n) return md_error(MD_USAGE, "fix langevin %s: its value is missing", keyword);
    MD_TRY(md_word_bool(words->word[w + 1], keyword, &yes));
    if (tally) fix->k[3] = yes ? 1.0 : 0.0;
    if (zero && yes)
      return md_error(MD_USAGE,
                      "fix langevin zero yes is not available: it would need a sum of the noise of all "
                      "particles within each step; `fix momentum` takes the momentum away");
  }
  return MD_OK;
}

static md_status langevin_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  (void)scope;
  if (words->n < 4) return md_fix_takes(fix, words, 4);
  MD_TRY(parse_temperature(words->word[0], "Tstart of fix langevin", &fix->k[0]));
  MD_TRY(parse_temperature(words->word[1], "Tstop of fix langevin", &fix->k[1]));
  MD_TRY(md_word_positive(words->word[2], "damp of fix langevin", &fix->k[2]));
  MD_TRY(md_word_int64(words->word[3], "the seed of fix langevin", 1, INT64_MAX, &fix->seed));
  return langevin_keywords(fix, words);
}

static md_status langevin_join(const md_fix *fix, md_model *model)
{
  for (const md_fix *other = model->fix; other < fix; ++other)
    if (other->kind == MD_FIX_langevin && other->seed == fix->seed)
      return md_error(MD_USAGE,
                      "fix langevin: another fix langevin has this seed already; give each one its own seed");
  if (!(fix->k[0] >= 0.0 && fix->k[1] >= 0.0 && fix->k[2] > 0.0))
    return md_error(MD_USAGE, "fix langevin: temperatures must be zero or positive, and damp positive");
  model->hottest = md_max(model->hottest, model->units->boltz * md_max(fix->k[0], fix->k[1]));
  return check_scales(fix, model);
}

static md_status langevin_prepare(const md_fix *fix, const md_model *model, md_action *action)
{
  if (model->dt == 0.0) return md_error(MD_USAGE, "fix langevin needs a timestep above 0");
  if (model->integrator != MD_NVE) return md_fix_wants_verlet("fix", "langevin");
  const double a = 0.5 * model->dt / fix->k[2];
  if (!(a < 1.0)) return md_error(MD_USAGE, "fix langevin: damp must be larger than half a timestep");
  for (int n = 0; n < (int)fix->k[MD_SCALES]; ++n)
    if (!(a < fix->k[MD_SCALES + 2 + 2 * n]))
      return md_error(MD_USAGE,
                      "fix langevin: damp times the factor of type %g must be larger than half a timestep",
                      fix->k[MD_SCALES + 1 + 2 * n]);
  action->k[0] = (1.0 - a) / (1.0 + a);
  action->k[1] = model->units->boltz * fix->k[0];
  action->k[2] = model->units->boltz * fix->k[1];
  action->k[3] = a;
  copy_scales(fix, action);
  return MD_OK;
}

static int64_t langevin_every(const md_fix *fix) { return fix->k[3] != 0.0 ? 1 : 0; }

static md_status langevin_end(const md_fix *fix, const md_model *model, const md_step *step,
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

static double langevin_coupled(const md_fix *fix, const md_model *model, const md_step *step, double freedom)
{
  (void)model;
  (void)step;
  (void)freedom;
  return fix->state[0];
}

static void langevin_halve(md_action *action)
{
  action->k[3] *= 0.5;
  action->k[0] = (1.0 - action->k[3]) / (1.0 + action->k[3]);
}

static const md_fix_style langevin_style = {
    .name = "langevin",
    .usage = "langevin TSTART TSTOP DAMP SEED [scale TYPE FACTOR ...] [tally yes|no] [zero no]",
    .help =
        "thermostat, together with fix nve; its temperature ramps in a run. scale: DAMP times FACTOR for\n"
        "a type. tally yes: f_ID is the energy that the bath has taken, also in ecouple; the bath then acts\n"
        "after each step",
    .forgets = "its friction takes digits of the velocities away",
    .takes_temp = true,
    .parse = langevin_parse,
    .join = langevin_join,
    .prepare = langevin_prepare,
    .halve = langevin_halve,
    .noisy = true,
    .every = langevin_every,
    .measures = MD_COMPUTE_temp,
    .end = langevin_end,
    .tallies = true,
    .nstate = 1,
    .coupled = langevin_coupled,
};

#elif defined MD_FIX_FORMULAS

/* Is what the action does to a component the same for all particles of a mass, but for the noise? */
static inline bool md_langevin_alike(const md_action *a)
{
  return a->kind == MD_FIX_langevin && a->group == MD_GROUP_ALL && a->bias.kind == MD_BIAS_NONE &&
         !(a->k[MD_SCALES] > 0.0);
}

/* The width of the noise, `done` steps after s. keep: c of the formula. */
MD_FN double md_langevin_noise(const md_action *a, const md_step *s, int64_t done, double keep, double mass)
{
  const double temperature = md_step_ramp(s, a->k[1], a->k[2], done);
  return sqrt(12.0 * temperature * (1.0 - keep * keep) * mass) / s->mass_reference;
}

/* A component after friction and noise, on the grid of v_step. word: of the random numbers. */
MD_FN double md_langevin_component(double keep, double noise, uint32_t word, double v, double bias,
                                   double v_step)
{
  const double thermal = fma(keep, v - bias, noise * (md_random_unit(word) - 0.5));
  return md_round_to(bias + thermal, v_step);
}

/* One application to one particle, `done` steps after s; again: it is a second half. The new v is on the grid of
 * v_step. */
MD_FN void md_langevin_middle(const md_action *a, const md_step *s, int64_t done, bool again, md_particle *p)
{
  if (!md_bias_counts(&a->bias, p->x)) return;
  const double part = a->k[MD_SCALES] > 0.0 ? a->k[3] / md_action_scale(a, p->type) : a->k[3];
  const double keep = a->k[MD_SCALES] > 0.0 ? (1.0 - part) / (1.0 + part) : a->k[0];
  const double noise = md_langevin_noise(a, s, done, keep, p->mass);
  const md_random random = md_random_at(a->seed, p->id, s->draw + (uint64_t)done,
                                        again ? MD_STREAM_LANGEVIN_AGAIN : MD_STREAM_LANGEVIN);
  for (int d = 0; d < 3 && d < s->dim; ++d) {
    if (a->bias.kind == MD_BIAS_AXES && a->bias.k[d] == 0.0) continue;
    const double bias = md_bias_of(&a->bias, d, p->x, p->v[d], p->velocity_per_v);
    p->v[d] = md_langevin_component(keep, noise, random.word[d], p->v[d], bias, p->v_step);
  }
}

MD_FN void md_langevin_end(const md_action *a, const md_step *s, md_particle *p)
{
  md_langevin_middle(a, s, 0, false, p);
}

#endif
