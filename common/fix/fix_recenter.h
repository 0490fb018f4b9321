/* fix recenter: shifts particles in each step, so that the centre of mass of its group stays at a place.
 *
 * The displacement D of the centre of mass since the fix began is summed from its velocities V by the trapezoid rule:
 *   D' = D + shift + h (V + V')/2
 * Its error stays about h^2 F/(4 M), F being the force on the group and M its mass. It does not grow, because errors of
 * steps cancel where kicks and drifts alternate. V is a quotient of exact sums, and faces do not matter. Before a step
 * the shift is the target minus D + h V, in whole quanta, and at most half of the way that a particle may go in a step.
 * So the centre of mass is h^2 F/(2 M) from the target after it.
 *
 * Advantage: no place of a particle is kept, and none comes from the engine, except once where a place is asked for.
 * Cost: that of a sum over particles in each step, see fix.h; general passes.
 *
 * Numbers of the fix: for axis d, k[2 d] is 0 for NULL, 1 for INIT, 2 for a place, and k[2 d + 1] the place; k6 1 if
 * all particles are shifted. Of its action: k0 to k2 the shift. State: 0 a shift is pending (shifts_once), 1 to 3 the
 * shift, 4 to 6 D, 7 to 9 V, 10 the centre of mass at the beginning is known, 11 to 13 it, 14 the length of the shift.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(recenter, "recenter")

#elif defined MD_FIX_DRIFT

MD_FIX_DRIFT(recenter)

#elif defined MD_FIX_END

MD_FIX_END(recenter)

#elif defined MD_FIX_HOST

enum {
  RECENTER_SHIFT = 1,
  RECENTER_WAY = 4,
  RECENTER_V = 7,
  RECENTER_KNOWN = 10,
  RECENTER_X = 11,
  RECENTER_LENGTH = 14
};
enum { RECENTER_NULL, RECENTER_INIT, RECENTER_PLACE };

static md_status recenter_read_place(md_fix *fix, const char *word, int d)
{
  fix->k[2 * d] = strcmp(word, "NULL") == 0   ? RECENTER_NULL
                  : strcmp(word, "INIT") == 0 ? RECENTER_INIT
                                              : RECENTER_PLACE;
  return fix->k[2 * d] == RECENTER_PLACE ? parse_component(fix, word, &fix->k[2 * d + 1]) : MD_OK;
}

/* Makes a coordinate in units of the lattice or in fractions of the box one in sigma. */
static md_status recenter_scale(md_fix *fix, const char *units, const md_fix_scope *scope)
{
  const bool fraction = strcmp(units, "fraction") == 0;
  bool in_lattice = false;
  if (!fraction && md_fix_read_units("recenter", units, &in_lattice) != MD_OK)
    return md_error(MD_USAGE, "fix recenter units: '%.64s' is none of box, lattice and fraction", units);
  if (fraction && scope->box->triclinic)
    return md_error(
        MD_USAGE,
        "fix recenter units fraction: the box is triclinic; change_box all ortho gives it right angles");
  for (int d = 0; d < 3; ++d) {
    double *at = &fix->k[2 * d + 1];
    if (fraction) *at = scope->box->lo[d] + *at * scope->box->length[d];
    if (in_lattice) *at *= scope->lattice[d];
  }
  return MD_OK;
}

static md_status recenter_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  const char *units = "lattice";
  if (words->n < 3 || words->n % 2 == 0)
    return md_error(
        MD_USAGE, "fix recenter takes X Y Z, each of which may be NULL or INIT, then keywords with a value");
  for (int d = 0; d < 3; ++d) MD_TRY(recenter_read_place(fix, words->word[d], d));
  for (int w = 3; w < words->n; w += 2) {
    const bool shift = strcmp(words->word[w], "shift") == 0;
    if (!shift && strcmp(words->word[w], "units") != 0)
      return md_error(
          MD_USAGE,
          "fix recenter: unknown keyword '%.64s'; accepted are shift all and units box|lattice|fraction",
          words->word[w]);
    if (!shift) units = words->word[w + 1];
    if (shift && strcmp(words->word[w + 1], "all") != 0)
      return md_error(MD_USAGE,
                      "fix recenter shift: only all is accepted, not '%.64s'; without the keyword the "
                      "particles of the group alone are shifted",
                      words->word[w + 1]);
    if (shift) fix->k[6] = 1.0;
  }
  if (scope->box->dim == 2 && fix->k[4] != RECENTER_NULL)
    return md_error(MD_USAGE, "fix recenter: in two dimensions Z must be NULL");
  return recenter_scale(fix, units, scope);
}

static uint32_t recenter_group(const md_fix *fix)
{
  return fix->k[6] != 0.0 ? MD_GROUP_ALL : md_group_bit(fix->group);
}

static md_status recenter_join(const md_fix *fix, md_model *model)
{
  for (int d = 0; d < 3; ++d)
    if (!(fix->k[2 * d] >= RECENTER_NULL && fix->k[2 * d] <= RECENTER_PLACE))
      return md_error(MD_USAGE, "fix recenter: its numbers are not valid");
  model->placed |= recenter_group(fix); /* also particles that stay otherwise */
  return MD_OK;
}

static md_status recenter_prepare(const md_fix *fix, const md_model *model, md_action *action)
{
  if (model->integrator != MD_NVE && model->integrator != MD_STATIC)
    return md_fix_wants_verlet("fix", "recenter");
  if (md_box_is_changed(&model->box))
    return md_error(MD_USAGE, "fix recenter: a fix that changes the box would move the centre of mass; use "
                              "only one of the two fixes");
  for (int d = 0; d < 3; ++d)
    if (model->box.triclinic && fix->k[2 * d] == RECENTER_PLACE)
      return md_error(MD_USAGE,
                      "fix recenter: in a tilted box the centre cannot have a given place, because images "
                      "are not known there; use INIT");
  action->group = recenter_group(fix);
  for (int d = 0; d < 3; ++d) action->k[d] = fix->state[0] == 1.0 ? fix->state[RECENTER_SHIFT + d] : 0.0;
  return MD_OK;
}

static int64_t recenter_every(const md_fix *fix)
{
  (void)fix;
  return 1;
}

static bool recenter_looks(const md_fix *fix)
{
  bool placed = false;
  for (int d = 0; d < 3; ++d) placed = placed || fix->k[2 * d] == RECENTER_PLACE;
  return placed && fix->state[RECENTER_KNOWN] == 0.0;
}

static md_status recenter_look(md_fix *fix, const md_model *model, const md_particles *particles,
                               double *const force[3], md_comm *comm)
{
  (void)force;
  double sum[MOMENTUM_SUMS];
  momentum_pass pass = {.about = false};
  MD_TRY(momentum_sum(fix, model, particles, comm, &pass, sum));
  for (int d = 0; d < model->box.dim && sum[0] > 0.0; ++d)
    fix->state[RECENTER_X + d] = momentum_origin(model, d) + sum[2 + d] / sum[0];
  fix->state[RECENTER_KNOWN] = 1.0;
  return MD_OK;
}

static md_status recenter_half(md_fix *fix, const md_model *model, const md_step *step, int64_t done,
                               double *value, md_action *action, bool *acts)
{
  (void)step, (void)action;
  double *state = fix->state, length2 = 0.0;
  *acts = false;
  for (int d = 0; d < model->box.dim; ++d) {
    const double v = value[MD_TEMPERATURE_FLOW + d], h = model->dt, most = 0.5 * model->move_limit;
    double *way = &state[RECENTER_WAY + d];
    if (done == 0) *way += 0.5 * h * (state[RECENTER_V + d] + v);
    if (done == 0) continue;
    const double target = fix->k[2 * d] == RECENTER_PLACE ? fix->k[2 * d + 1] - state[RECENTER_X + d] : 0.0;
    double shift = fix->k[2 * d] == RECENTER_NULL ? 0.0 : target - (*way + h * v);
    shift = md_round_to(md_min(md_max(shift, -most), most), model->grids.x);
    state[RECENTER_V + d] = v;
    state[RECENTER_SHIFT + d] = shift;
    *way += shift;
    length2 += shift * shift;
  }
  if (done == 1) {
    state[0] = 1.0;
    state[RECENTER_LENGTH] = sqrt(length2);
  }
  return MD_OK;
}

/* INIT is where the centre of mass is at the beginning of a run. */
static void recenter_displaced(md_fix *fix, const double way[3])
{
  for (int d = 0; d < 3; ++d)
    if (fix->k[2 * d] == RECENTER_PLACE) fix->state[RECENTER_WAY + d] += way[d];
}

static double recenter_scalar(const md_fix *fix) { return fix->state[RECENTER_LENGTH]; }

static const md_fix_style recenter_style = {
    .name = "recenter",
    .usage = "recenter X Y Z [shift all] [units box|lattice|fraction]",
    .help = "shifts the particles of the group, or all particles, in each step, so that the centre of mass "
            "of the "
            "group is\n"
            "at X Y Z. NULL: not along this axis; INIT: where it was when the run with the fix began.\n"
            "A particle that crosses a periodic face is followed, not wrapped. f_ID: how far the last step\n"
            "shifted them",
    .needs_box = true,
    .conserves_momentum = true,
    .forgets = "it shifts the particles, and nothing keeps by how much",
    .parse = recenter_parse,
    .join = recenter_join,
    .prepare = recenter_prepare,
    .every = recenter_every,
    .measures = MD_COMPUTE_temp_com,
    .half = recenter_half,
    .look = recenter_look,
    .looks = recenter_looks,
    .shifts_once = true,
    .displaced = recenter_displaced,
    .scalar = recenter_scalar,
    .extensive = true,
    .nstate = MD_FIX_HALF_STATE,
};

#elif defined MD_FIX_FORMULAS

MD_FN bool md_recenter_drift(const md_action *a, const md_step *s, int64_t done, md_particle *p, double by[3])
{
  (void)done;
  for (int d = 0; d < 3 && d < s->dim; ++d) by[d] += a->k[d];
  return (p->group & s->moving) != 0;
}

/* Velocities stay: what is measured after a step is for the next drift. */
MD_FN void md_recenter_end(const md_action *a, const md_step *s, md_particle *p)
{
  (void)a, (void)s, (void)p;
}

#endif
