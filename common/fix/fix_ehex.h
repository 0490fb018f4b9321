/* fix ehex: the enhanced heat exchange algorithm. As fix heat, it adds the energy F N dt to a group, or to its
 * particles in a block, by scaling velocities relative to their centre of mass. Then it shifts these particles, so
 * that the total energy does not drift where heat comes in and goes out:
 *
 *   x' = x - dt^3 e,   e = P/(2 K^2) (P/48 + S/6) (v - V) - P/(12 K) (f/m - A),   P = F N
 *
 * f is the force on a particle, V and A are velocity and acceleration of the centre of mass of these particles, K is
 * their kinetic energy relative to it, and S the sum of f (v - V). All are those before the scaling.
 *
 * A shift is made with the drift of the next step, and forces are not summed anew for it, as in LAMMPS. So output
 * after the step has the places before it. A shift is far smaller than the displacement by a step. Particles that no
 * integrator moves are not shifted.
 *
 * Trade-off: the sums with forces are made on the host. With `hex` there are no shifts, and no such sums.
 * Cost: without hex also a download of particles and forces for each action.
 * Reference: Wirnsberger, Frenkel and Dellago, J. Chem. Phys. 143 (2015) 124104.
 *
 * Numbers of the fix: those of fix heat, and k9 1 for hex. Of its action: those of fix heat; for the shift k4 1, k5 the
 * factor of v' - V after the scaling, k6 that of the impulse of a kick over m, k7 to k9 V, k10 to k12 the shift that
 * all have. State: 0 is 1 until the shift, 1 to 8 as k5 to k12; 9 to 13 the mass, the force and the sum of f v.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(ehex, "ehex")

#elif defined MD_FIX_DRIFT

MD_FIX_DRIFT(ehex)

#elif defined MD_FIX_END

MD_FIX_END(ehex)

#elif defined MD_FIX_HOST

enum {
  EHEX_HEX = 9,
  EHEX_SHIFT = 4,
  EHEX_SHIFTS = 9,
  EHEX_MASS = 9,
  EHEX_FORCE = 10,
  EHEX_POWER = 13,
  EHEX_SUMS = 5
};

static md_status ehex_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  int at;
  MD_TRY(read_heat(fix, words, scope, &at));
  for (; at < words->n; ++at) {
    if (strcmp(words->word[at], "constrain") == 0 || strcmp(words->word[at], "com") == 0)
      return md_error(MD_USAGE, "fix ehex: '%s' is for molecules that are held together, and there are none",
                      words->word[at]);
    if (strcmp(words->word[at], "hex") != 0)
      return md_error(MD_USAGE, "fix ehex: unexpected '%.64s'; accepted are region ID, then hex",
                      words->word[at]);
    fix->k[EHEX_HEX] = 1.0;
  }
  return MD_OK;
}

static md_status ehex_prepare(const md_fix *fix, const md_model *model, md_action *action)
{
  MD_TRY(heat_prepare(fix, model, action));
  if (model->float_drift)
    return md_error(MD_USAGE,
                    "fix ehex: positions must be on the grid; use fix nve/leapfrog with drift grid");
  memcpy(&action->k[EHEX_SHIFT], fix->state, EHEX_SHIFTS * sizeof *fix->state);
  return MD_OK;
}

static bool ehex_looks(const md_fix *fix) { return fix->k[EHEX_HEX] == 0.0; }

/* Adds mass, force and f v of a particle. */
static void ehex_add(const md_model *model, const md_particle *p, double *const force[3], int64_t i,
                     md_long_sum sum[EHEX_SUMS])
{
  double term[EHEX_SUMS] = {p->mass, 0.0, 0.0, 0.0, 0.0};
  for (int d = 0; d < model->box.dim; ++d) {
    term[1 + d] = force[d][i];
    term[4] = fma(force[d][i], md_particle_velocity(p, d, model->grids.v), term[4]);
  }
  for (int k = 0; k < EHEX_SUMS; ++k) md_long_add(&sum[k], term[k]);
}

static md_status ehex_look(md_fix *fix, const md_model *model, const md_particles *particles,
                           double *const force[3], md_comm *comm)
{
  md_action action = {.kind = fix->kind};
  md_long_sum sum[EHEX_SUMS] = {{.terms = 0}};
  MD_TRY(ehex_prepare(fix, model, &action));
  for (int64_t i = 0; i < particles->n; ++i) {
    const md_particle p = md_particle_of(model, particles, i);
    if ((p.group & md_group_bit(fix->group)) && md_bias_counts(&action.bias, p.x))
      ehex_add(model, &p, force, i, sum);
  }
  MD_TRY(md_long_sums_over_ranks(comm, sum, EHEX_SUMS));
  for (int k = 0; k < EHEX_SUMS; ++k) fix->state[EHEX_MASS + k] = md_long_value(&sum[k]);
  return MD_OK;
}

/* Keeps the numbers of the shift. */
static void ehex_account(md_fix *fix, const md_model *model, const double *value, const md_action *action)
{
  const double P = fix->k[0] * fix->k[1], K = value[MD_TEMPERATURE_KINETIC], dt = model->dt,
               dt3 = dt * dt * dt;
  double *state = fix->state, S = state[EHEX_POWER];
  if (!ehex_looks(fix) || !(state[EHEX_MASS] > 0.0)) return;
  for (int d = 0; d < model->box.dim; ++d) S -= state[EHEX_FORCE + d] * action->k[1 + d];
  const double pull = dt3 * P / (12.0 * K);
  state[0] = 1.0;
  state[1] = action->k[0] > 0.0 ? -dt3 * P / (2.0 * K * K) * (P / 48.0 + S / 6.0) / action->k[0] : 0.0;
  state[2] = pull / model->kick_time;
  for (int d = 0; d < 3; ++d) {
    state[3 + d] = d < model->box.dim ? action->k[1 + d] : 0.0;
    state[6 + d] = d < model->box.dim ? -pull * state[EHEX_FORCE + d] / state[EHEX_MASS] : 0.0;
  }
}

static const md_fix_style ehex_style = {
    .name = "ehex",
    .usage = "ehex N F [region ID] [hex]",
    .help = "as heat, by the enhanced heat exchange algorithm, which also shifts the particles, so that the\n"
            "total energy does not drift. hex: without the shifts",
    .forgets = "the velocities that it rescales are rounded",
    .conserves_momentum = true,
    .parse = ehex_parse,
    .find_region = heat_find_region,
    .join = heat_join,
    .prepare = ehex_prepare,
    .every = heat_every,
    .measures = MD_COMPUTE_temp_com,
    .end = heat_end,
    .account = ehex_account,
    .look = ehex_look,
    .looks = ehex_looks,
    .look_forces = true,
    .drifts = ehex_looks,
    .shifts_once = true,
    .nstate = EHEX_SHIFTS,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_ehex_end(const md_action *a, const md_step *s, md_particle *p) { md_heat_end(a, s, p); }

MD_FN bool md_ehex_drift(const md_action *a, const md_step *s, int64_t done, md_particle *p, double by[3])
{
  (void)done;
  /* Particles that fix move puts to their places get no kick, and no shift. */
  if (a->k[4] == 0.0 || !(p->group & s->moving) || !md_bias_counts(&a->bias, p->x)) return true;
  for (int d = 0; d < 3 && d < s->dim; ++d) {
    const double velocity = (p->v[d] - p->impulse[d]) * p->velocity_per_v - a->k[7 + d];
    const double accelerated = a->k[6] * (p->impulse[d] * p->velocity_per_v);
    by[d] += md_round_to(fma(a->k[5], velocity, accelerated + a->k[10 + d]), s->quantum);
  }
  return true;
}

#endif
