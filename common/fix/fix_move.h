/* fix move: moves the particles of a group in a given way, whatever the forces on them, in place of an integrator:
 *
 *   linear  x = x0 + V t                     v = V
 *   wiggle  x = x0 + A sin(2 pi t/T)         v = A (2 pi/T) cos(2 pi t/T)
 *   rotate  a turn about the axis R through P in the time T, by the right hand
 *   variable  x = x0 + D, v = V                  D and V: variables of style equal at each step; without D x += V dt
 *
 * t is the time since the step in which the fix was made. It goes on after reset_timestep, where in LAMMPS x jumps to
 * the place of the new step, and after timestep.
 *
 * A step shifts a particle by the difference between two times, linear and wiggle between roundings of x - x0 at both.
 * These differences add up to the whole displacement without an error, so that no place x0 has to be kept. rotate turns
 * by the angle of a step, and rounds each time: the error grows as the root of the number of steps from a quantum of
 * positions. Along periodic axes it takes the image that is nearest to the axis of rotation.
 *
 * Cost: general passes (fix.h); a sine for each particle and step, for wiggle; for variable, a stop of the engine and
 * an evaluation of the variables in each step.
 *
 * Numbers of the fix: k0 the way: 0 linear, 1 wiggle, 2 rotate, 3 variable; k1 to k3 V, A or P; k4 T; k5 to k7 R, of
 * length 1; k8 to k13 D and V of variable, k14 to k19 1 where these are given. Of its action: k0 to k3, k5 to k7 the
 * same, k4 dt/T, k8 the first step, k9 the angular velocity, k10 sine and k11 cosine minus 1 of the angle of a step,
 * k12 dt; of variable k1 to k3 the shift of the step, k5 to k7 the velocity after it, k8 to k10 1 where that is given.
 * State: 0 the first step, had the timestep always been the present one; 1 to 3 D of the last step.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(move, "move")

#elif defined MD_FIX_DRIFT

MD_FIX_DRIFT(move)

#elif defined MD_FIX_HOST

static const struct {
  const char *name, *takes;
  int words;
} move_way[] = {{"linear", "VX VY VZ", 3},
                {"wiggle", "AX AY AZ PERIOD", 4},
                {"rotate", "PX PY PZ RX RY RZ PERIOD", 7},
                {"variable", "v_DX v_DY v_DZ v_VX v_VY v_VZ, each of which may be NULL", 6}};
enum { MOVE_VARIABLE = 3, MOVE_WAYS };

/* Reads a number at word w, which stays the same during a run. */
static md_status move_read(const md_fix *fix, const md_words *words, int w, double *to)
{
  if (strcmp(words->word[w], "NULL") == 0)
    return md_error(MD_USAGE,
                    "fix move: NULL is not available, because forces would move the particles along this "
                    "axis; write 0 to let them rest");
  return parse_component(fix, words->word[w], to);
}

/* Reads the keyword units after the way's words, and scales lengths. */
static md_status move_units(md_fix *fix, const md_words *words, int w, const md_fix_scope *scope)
{
  bool in_lattice = true;
  if (w < words->n) {
    if (strcmp(words->word[w], "units") != 0 || w + 2 != words->n)
      return md_error(MD_USAGE, "fix move: unexpected '%.64s'; accepted is units box|lattice",
                      words->word[w]);
    MD_TRY(md_fix_read_units("move", words->word[w + 1], &in_lattice));
  }
  for (int d = 0; d < 3 && in_lattice; ++d) fix->k[1 + d] *= scope->lattice[d];
  return MD_OK;
}

/* Reads the six words of `variable`. */
static md_status move_read_variables(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  for (int j = 0; j < 6; ++j) {
    const char *word = words->word[1 + j];
    fix->k[14 + j] = strcmp(word, "NULL") != 0;
    if (fix->k[14 + j] == 0.0) continue;
    if (strncmp(word, "v_", 2) != 0 || (j % 3 == 2 && scope->box->dim == 2))
      return md_error(MD_USAGE, "fix move variable: '%.64s' is not %s", word,
                      strncmp(word, "v_", 2) != 0 ? "v_NAME or NULL" : "accepted along z in two dimensions");
    MD_TRY(md_fix_read_varied(fix, word, "a number of fix move", &fix->k[8 + j]));
  }
  for (int d = 0; d < scope->box->dim; ++d)
    if (fix->k[14 + d] + fix->k[17 + d] == 0.0)
      return md_error(MD_USAGE,
                      "fix move variable: neither a displacement nor a velocity along %c; forces would move "
                      "the particles there, which is not available: give a velocity of 0 to let them rest",
                      "xyz"[d]);
  return MD_OK;
}

static md_status move_check_plane(const md_fix *fix, const md_fix_scope *scope)
{
  if (scope->box->dim == 3) return MD_OK;
  const bool turns = fix->k[0] == 2.0;
  if (turns ? fix->k[5] == 0.0 && fix->k[6] == 0.0 : fix->k[3] == 0.0) return MD_OK;
  return md_error(MD_USAGE, "fix move: in two dimensions %s",
                  turns ? "the axis must be 0 0 1 or 0 0 -1" : "the third number must be 0");
}

static md_status move_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  int way = 0;
  while (way < MOVE_WAYS && (words->n == 0 || strcmp(words->word[0], move_way[way].name) != 0)) ++way;
  if (way == MOVE_WAYS)
    return md_error(MD_USAGE,
                    "fix move: '%.64s' is not available; accepted are linear, wiggle, rotate and variable",
                    words->n > 0 ? words->word[0] : "");
  if (words->n < 1 + move_way[way].words)
    return md_error(MD_USAGE, "fix move %s takes %s", move_way[way].name, move_way[way].takes);
  fix->k[0] = way;
  fix->state[0] = (double)scope->step;
  if (way == MOVE_VARIABLE) {
    MD_TRY(move_read_variables(fix, words, scope));
    return move_units(fix, words, 1 + move_way[way].words, scope);
  }
  for (int d = 0; d < 3; ++d) MD_TRY(move_read(fix, words, 1 + d, &fix->k[1 + d]));
  if (way > 0)
    MD_TRY(md_word_positive(words->word[move_way[way].words], "the period of fix move", &fix->k[4]));
  for (int d = 0; d < 3 && way == 2; ++d) MD_TRY(move_read(fix, words, 4 + d, &fix->k[5 + d]));
  if (way == 2) MD_TRY(normalise_direction(fix, &fix->k[5]));
  MD_TRY(move_check_plane(fix, scope));
  return move_units(fix, words, 1 + move_way[way].words, scope);
}

static md_status move_join(const md_fix *fix, md_model *model)
{
  const double way = fix->k[0];
  if (!(way == 0.0 || way == MOVE_VARIABLE || ((way == 1.0 || way == 2.0) && fix->k[4] > 0.0)))
    return md_error(MD_USAGE, "fix move: its numbers are not valid");
  model->placed |= md_group_bit(fix->group);
  return MD_OK;
}

static md_status move_prepare(const md_fix *fix, const md_model *model, md_action *action)
{
  double *k = action->k;
  if (model->integrator != MD_STATIC && (model->moving & (md_group_bit(fix->group) | MD_GROUP_ALL)))
    return md_error(MD_USAGE,
                    "fix move: another fix moves these particles too; give it a group without them");
  if (model->float_drift)
    return md_error(MD_USAGE,
                    "fix move: positions must be on the grid; use fix nve/leapfrog with drift grid");
  memcpy(k, fix->k, 8 * sizeof *k);
  k[8] = fix->state[0];
  k[12] = model->dt;
  if (k[0] == 0.0 || k[0] == MOVE_VARIABLE) return MD_OK;
  if (k[0] == 2.0) MD_TRY(check_right_angles(fix, model));
  const double turn = model->dt / fix->k[4], half = md_sin_turns(0.5 * turn);
  k[4] = turn;
  k[9] = 0x1.921fb54442d18p2 / fix->k[4];
  k[10] = md_sin_turns(turn);
  k[11] = -2.0 * half * half;
  return MD_OK;
}

/* Makes the numbers of the next step from those that the variables have after it. */
static void move_vary(md_fix *fix, const md_fix *now, const md_model *model, md_action *action)
{
  for (int d = 0; d < model->box.dim; ++d) {
    const bool placed = now->k[14 + d] != 0.0, driven = now->k[17 + d] != 0.0;
    const double way = placed ? now->k[8 + d] - fix->state[1 + d] : driven ? now->k[11 + d] * model->dt : 0.0;
    action->k[1 + d] = md_round_to(way, model->grids.x);
    action->k[5 + d] = driven ? now->k[11 + d] : 0.0;
    action->k[8 + d] = driven;
    if (placed) fix->state[1 + d] += action->k[1 + d];
  }
}

static void move_shift(md_fix *fix, int64_t steps) { fix->state[0] += (double)steps; }

static void move_retime(md_fix *fix, int64_t step, double ratio)
{
  fix->state[0] = (double)step - ((double)step - fix->state[0]) * ratio;
}

static const md_fix_style move_style = {
    .name = "move",
    .usage = "move linear VX VY VZ | wiggle AX AY AZ PERIOD | rotate PX PY PZ RX RY RZ PERIOD | variable "
             "v_DX v_DY "
             "v_DZ v_VX v_VY v_VZ [units box|lattice]",
    .help =
        "moves the particles of the group in this way, whatever the forces on them; no other fix may "
        "move them.\n"
        "rotate: about the axis R through P. Lengths are in lattice units unless units box is given.\n"
        "variable: displacements and velocities are variables of style equal, in sigma; NULL: none. Without\n"
        "a displacement the velocity moves them; without a velocity it stays",
    .forgets = "it changes the velocities of the particles that it moves, which nothing keeps",
    .needs_box = true,
    .parse = move_parse,
    .join = move_join,
    .prepare = move_prepare,
    .vary = move_vary,
    .shift = move_shift,
    .retime = move_retime,
    .nstate = 4,
};

#elif defined MD_FIX_FORMULAS

/* The shift along axis d from step n to the next one, steps counted from the first, and the velocity after it. */
MD_FN double md_move_along(const md_action *a, const md_step *s, double n, int d, double *velocity)
{
  if (a->k[0] == 0.0) {
    *velocity = a->k[1 + d];
    return md_round_to(a->k[1 + d] * a->k[12] * (n + 1.0), s->quantum) -
           md_round_to(a->k[1 + d] * a->k[12] * n, s->quantum);
  }
  const double before = a->k[4] * n, now = a->k[4] * (n + 1.0);
  *velocity = a->k[1 + d] * (a->k[9] * md_sin_turns(now - rint(now) + 0.25));
  return md_round_to(a->k[1 + d] * md_sin_turns(now), s->quantum) -
         md_round_to(a->k[1 + d] * md_sin_turns(before), s->quantum);
}

/* c = a b, the product of vectors. */
MD_FN void md_move_cross(const double a[3], const double b[3], double c[3])
{
  for (int d = 0; d < 3; ++d) {
    const int e = (d + 1) % 3, f = (d + 2) % 3;
    c[d] = fma(a[e], b[f], -(a[f] * b[e]));
  }
}

/* The shift of a particle that turns, and its velocity after it. */
MD_FN void md_move_turn(const md_action *a, const md_step *s, const md_particle *p, double by[3],
                        double velocity[3])
{
  double r[3] = {0.0, 0.0, 0.0}, side[3], in[3];
  for (int d = 0; d < 3 && d < s->dim; ++d)
    r[d] = md_force_delta(p->x[d], a->k[1 + d], s->box_lo[d], s->periodic[d] ? s->length[d] : 0.0);
  md_move_cross(&a->k[5], r, side);
  md_move_cross(&a->k[5], side, in); /* minus the part of r across the axis */
  for (int d = 0; d < 3 && d < s->dim; ++d) {
    by[d] = md_round_to(fma(a->k[10], side[d], -(a->k[11] * in[d])), s->quantum);
    r[d] += by[d];
  }
  md_move_cross(&a->k[5], r, velocity);
  for (int d = 0; d < 3; ++d) velocity[d] *= a->k[9];
}

MD_FN void md_move_by_variables(const md_action *a, const md_step *s, md_particle *p, double by[3])
{
  for (int d = 0; d < 3 && d < s->dim; ++d) {
    by[d] += a->k[1 + d];
    if (a->k[8 + d] != 0.0) p->v[d] = md_round_to(a->k[5 + d] / p->velocity_per_v, p->v_step);
  }
}

MD_FN bool md_move_drift(const md_action *a, const md_step *s, int64_t done, md_particle *p, double by[3])
{
  if (a->k[0] == 3.0) {
    md_move_by_variables(a, s, p, by);
    return false;
  }
  double velocity[3] = {0.0, 0.0, 0.0}, way[3] = {0.0, 0.0, 0.0};
  const double n = (double)((int64_t)s->number + done) - a->k[8];
  if (a->k[0] == 2.0)
    md_move_turn(a, s, p, way, velocity);
  else
    for (int d = 0; d < 3 && d < s->dim; ++d) way[d] = md_move_along(a, s, n, d, &velocity[d]);
  for (int d = 0; d < 3 && d < s->dim; ++d) {
    by[d] += way[d];
    p->v[d] = md_round_to(velocity[d] / p->velocity_per_v, p->v_step);
  }
  return false;
}

#endif
