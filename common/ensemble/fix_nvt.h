/* fix nvt: velocity Verlet with the thermostat of Nose and Hoover: a chain of thermostats, each on the one before it.
 *
 *   dv/dt = F/m - w_1 v         de_k/dt = w_k         dw_k/dt = G_k - w_{k+1} w_k
 *   G_1 = (2 K - f T)/Q_1       G_k = (Q_{k-1} w_{k-1}^2 - T)/Q_k      Q_1 = f T TDAMP^2       Q_k = T TDAMP^2
 *
 * with the kinetic energy K, the f degrees of freedom of the temperature, and the target T, which goes linearly from
 * TSTART to TSTOP in a run. With a constant T the motion conserves
 *   E + f T e_1 + sum over k > 1 of T e_k + sum over k of Q_k w_k^2/2,
 * and f_ID is all of it but the energy E of the particles.
 *
 * A step is a half of the chain, a step of nve, and a half of the chain. A half goes from the last thermostat to the
 * first, scales the velocities by exp(-h w_1), h = dt/2, moves all e_k, and goes back to the last. It is done in LOOPS
 * parts.
 *
 * The half after a step measures the kinetic energy, by exact sums on all ranks. The half before the next step takes
 * this energy times the square of the first half's factor, as LAMMPS does.
 *
 * Trade-off: the averages are those of a canonical ensemble, but all ranks wait for one sum a step. Only the scaling is
 * a work of engines, so that all of them give the same bits.
 * References: Martyna, Klein and Tuckerman, J. Chem. Phys. 97 (1992) 2635; Martyna, Tuckerman, Tobias and Klein, Mol.
 * Phys. 87 (1996) 1117.
 *
 * Numbers of the fix: k0 TSTART, k1 TSTOP, k2 TDAMP, k3 thermostats of the chain, k4 LOOPS, k5 DRAG. State: e_k, then
 * w_k, each NVT_CHAIN of them. Of its action: k0 the factor.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(nvt, "nvt")

#elif defined MD_FIX_END

MD_FIX_END(nvt)

#elif defined MD_FIX_HOST

enum { NVT_CHAIN = MD_FIX_OWN / 2 };

/* Reads the keyword at words->word[*w] and its values, and moves *w past them. */
static md_status nvt_keyword(md_fix *fix, const md_words *words, int *w)
{
  const char *keyword = words->word[*w];
  char *const *value = words->word + *w + 1;
  const bool temp = strcmp(keyword, "temp") == 0, chain = strcmp(keyword, "tchain") == 0;
  const bool loop = strcmp(keyword, "tloop") == 0, drag = strcmp(keyword, "drag") == 0;
  const int takes = temp ? 3 : 1;
  int64_t count;
  if (!temp && !chain && !loop && !drag)
    return md_error(MD_USAGE, "fix nvt: unknown keyword '%.64s'; accepted are temp, tchain, tloop, drag",
                    keyword);
  if (*w + takes >= words->n)
    return md_error(MD_USAGE, "fix nvt: %s needs %s", keyword, temp ? "TSTART TSTOP TDAMP" : "a value");
  *w += 1 + takes;
  if (chain || loop) {
    MD_TRY(md_word_int64(value[0], chain ? "tchain of fix nvt" : "tloop of fix nvt", 1,
                         chain ? NVT_CHAIN : 1000, &count));
    fix->k[chain ? 3 : 4] = (double)count;
    return MD_OK;
  }
  if (drag) return parse_temperature(value[0], "drag of fix nvt", &fix->k[5]);
  MD_TRY(md_word_positive(value[0], "Tstart of fix nvt", &fix->k[0]));
  MD_TRY(md_word_positive(value[1], "Tstop of fix nvt", &fix->k[1]));
  return md_word_positive(value[2], "Tdamp of fix nvt", &fix->k[2]);
}

static md_status nvt_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  (void)scope;
  fix->k[3] = 3.0;
  fix->k[4] = 1.0;
  for (int w = 0; w < words->n;) MD_TRY(nvt_keyword(fix, words, &w));
  if (fix->k[2] > 0.0) return MD_OK;
  return md_error(MD_USAGE, "fix nvt needs a temperature: temp TSTART TSTOP TDAMP");
}

static md_status nvt_join(const md_fix *fix, md_model *model)
{
  const double *k = fix->k;
  if (!(k[0] > 0.0 && k[1] > 0.0 && k[2] > 0.0 && k[3] >= 1.0 && k[3] <= NVT_CHAIN && k[4] >= 1.0 &&
        k[4] <= 1000.0 && k[5] >= 0.0))
    return md_error(MD_USAGE,
                    "fix nvt: temperatures and Tdamp must be positive, tchain from 1 to %d, tloop from 1 to "
                    "1000, and drag zero or positive",
                    NVT_CHAIN);
  model->hottest = md_max(model->hottest, model->units->boltz * md_max(k[0], k[1]));
  return join_integrator(fix, model, MD_NVE);
}

static md_status nvt_prepare(const md_fix *fix, const md_model *model, md_action *action)
{
  (void)action;
  return prepare_scaling(fix, model);
}

static int64_t nvt_every(const md_fix *fix)
{
  (void)fix;
  return 1;
}

/* The chain in one half of a step. Thermostat n is the first of those that are not there: w[n] is 0. */
typedef struct nvt_chain {
  int n;
  double target, freedom; /* the temperature as an energy */
  double e[NVT_CHAIN], w[NVT_CHAIN + 1], mass[NVT_CHAIN];
} nvt_chain;

static nvt_chain nvt_chain_of(const md_fix *fix, double target, double freedom)
{
  nvt_chain c = {.n = (int)fix->k[3], .target = target, .freedom = freedom};
  for (int k = 0; k < c.n; ++k) {
    c.e[k] = fix->state[k];
    c.w[k] = fix->state[NVT_CHAIN + k];
    c.mass[k] = target * fix->k[2] * fix->k[2] * (k == 0 ? freedom : 1.0);
  }
  return c;
}

/* Changes w of thermostat k in a time h. kinetic2: twice the kinetic energy of the particles. */
static void nvt_push(nvt_chain *c, int k, double h, double kinetic2, double keep)
{
  const double friction = md_exp(-0.25 * h * c->w[k + 1]);
  const double drive =
      k == 0 ? kinetic2 - c->freedom * c->target : c->mass[k - 1] * c->w[k - 1] * c->w[k - 1] - c->target;
  c->w[k] = (c->w[k] * friction + drive / c->mass[k] * (0.5 * h)) * keep * friction;
}

/* One half of the chain. kinetic2: twice the kinetic energy of the particles, before and after it. Returns the factor
 * of the velocities. */
static double nvt_turn(md_fix *fix, double dt, double target, double freedom, double *kinetic2)
{
  const double loops = fix->k[4], h = 0.5 * dt / loops, keep = 1.0 - dt * fix->k[5] / (fix->k[2] * loops);
  double factor = 1.0;
  nvt_chain c = nvt_chain_of(fix, target, freedom);
  for (int loop = 0; loop < (int)loops; ++loop) {
    for (int k = c.n - 1; k >= 0; --k) nvt_push(&c, k, h, *kinetic2, keep);
    const double scale = md_exp(-h * c.w[0]);
    factor *= scale;
    *kinetic2 *= scale * scale;
    for (int k = 0; k < c.n; ++k) c.e[k] += h * c.w[k];
    for (int k = 0; k < c.n; ++k) nvt_push(&c, k, h, *kinetic2, 1.0);
  }
  for (int k = 0; k < c.n; ++k) {
    fix->state[k] = c.e[k];
    fix->state[NVT_CHAIN + k] = c.w[k];
  }
  return factor;
}

static md_status nvt_half(md_fix *fix, const md_model *model, const md_step *step, int64_t done,
                          double *value, md_action *action, bool *acts)
{
  const double target = model->units->boltz * md_step_ramp(step, fix->k[0], fix->k[1], done);
  const double freedom = value[MD_TEMPERATURE_FREEDOM];
  double kinetic2 = 2.0 * value[MD_TEMPERATURE_KINETIC];
  if (!(freedom > 0.0)) {
    *acts = false;
    return MD_OK;
  }
  const double factor = nvt_turn(fix, model->dt, target, freedom, &kinetic2);
  action->k[0] = factor;
  value[MD_TEMPERATURE_KINETIC] = 0.5 * kinetic2;
  if (isfinite(factor)) return MD_OK;
  return md_error(MD_PHYSICS,
                  "step %lld: the chain of fix nvt is not finite; take a larger Tdamp or a smaller timestep",
                  (long long)model->step);
}

static double nvt_coupled(const md_fix *fix, const md_model *model, const md_step *step, double freedom)
{
  const double target = model->units->boltz * md_step_ramp(step, fix->k[0], fix->k[1], 0);
  const nvt_chain c = nvt_chain_of(fix, target, freedom);
  double energy = 0.0;
  for (int k = 0; k < c.n; ++k)
    energy += target * (k == 0 ? freedom : 1.0) * c.e[k] + 0.5 * c.mass[k] * c.w[k] * c.w[k];
  return energy;
}

static const md_fix_style nvt_style = {
    .name = "nvt",
    .usage = "nvt temp TSTART TSTOP TDAMP [tchain N] [tloop N] [drag D]",
    .help = "velocity Verlet with a chain of N (3) thermostats of Nose and Hoover, done in tloop (1) parts;\n"
            "TDAMP is the time in which the temperature answers. f_ID is the energy of the chain, also in\n"
            "ecouple",
    .forgets = "the velocities that its thermostat scales are rounded",
    .takes_temp = true,
    .nstate = MD_FIX_HALF_STATE,
    .parse = nvt_parse,
    .join = nvt_join,
    .prepare = nvt_prepare,
    .every = nvt_every,
    .scaling = MD_SCALES_ALIKE,
    .measures = MD_COMPUTE_temp,
    .half = nvt_half,
    .integrates = true,
    .coupled = nvt_coupled,
    .counts_freedom = true,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_nvt_end(const md_action *a, const md_step *s, md_particle *p)
{
  md_step_scale(s, &a->bias, a->k[0], p);
}

#endif
