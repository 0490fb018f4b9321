/* fix wall/piston: a piston that moves upwards along z, and reflects the particles of its group.
 *
 *   z' = 2 Z - z,   v' = 2 V - v   along z, where z < Z after a drift
 *
 * Z is the place of the piston after the step, and V its velocity. t is the time since the beginning of the run, as in
 * LAMMPS: a second run begins with the piston at Z0. Z = Z0 + VZ t; with `ramp` V goes from 0 to VZ in the run, and
 * Z = Z0 + V t/2.
 *
 * The fix finds the particles that their drift would take behind the piston before the drift, and gives them the shift
 * and the velocity with which the drift ends at z'. Trade-off: where another fix changes the velocity in the middle of
 * the drift, z' is that of the velocity before.
 * Cost: general passes (common/fix/fix.h).
 * Reference: Holian and Lomdahl, Science 280 (1998) 2085.
 *
 * Numbers of the fix and of its action: k0 Z0, k1 VZ, k2 1 for ramp; of its action also k3 dt.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(wall_piston, "wall/piston")

#elif defined MD_FIX_DRIFT

MD_FIX_DRIFT(wall_piston)

#elif defined MD_FIX_HOST

/* Reads the keyword at word *w with its value, and moves *w past them. */
static md_status piston_read(md_fix *fix, const md_words *words, int *w, bool *placed, bool *in_lattice)
{
  const char *keyword = words->word[(*w)++];
  const bool pos = strcmp(keyword, "pos") == 0, vel = strcmp(keyword, "vel") == 0;
  if (strcmp(keyword, "ramp") == 0) {
    fix->k[2] = 1.0;
    return MD_OK;
  }
  if (strcmp(keyword, "temp") == 0)
    return md_error(MD_USAGE, "fix wall/piston: 'temp' is not available; use fix langevin for a group");
  if (!pos && !vel && strcmp(keyword, "units") != 0)
    return md_error(
        MD_USAGE,
        "fix wall/piston: unknown keyword '%.64s'; accepted are pos Z, vel VZ, ramp and units box|lattice",
        keyword);
  if (*w == words->n) return md_error(MD_USAGE, "fix wall/piston %s: a value is missing", keyword);
  const char *value = words->word[(*w)++];
  if (!pos && !vel) return md_fix_read_units("wall/piston", value, in_lattice);
  *placed = *placed || pos;
  return parse_component(fix, value, &fix->k[pos ? 0 : 1]);
}

static md_status wall_piston_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  bool placed = false, in_lattice = true;
  if (words->n == 0 || strcmp(words->word[0], "zlo") != 0)
    return md_error(MD_USAGE, "fix wall/piston: the face must be zlo");
  if (scope->box->dim == 2)
    return md_error(MD_USAGE, "fix wall/piston moves along z, and there are two dimensions");
  if (scope->box->periodic[2])
    return md_error(MD_USAGE, "fix wall/piston: the box is periodic along z; use boundary s or f there");
  for (int w = 1; w < words->n;) MD_TRY(piston_read(fix, words, &w, &placed, &in_lattice));
  if (in_lattice) fix->k[0] *= scope->lattice[2];
  if (in_lattice) fix->k[1] *= scope->lattice[2];
  if (!placed) fix->k[0] = scope->box->lo[2];
  return MD_OK;
}

static md_status wall_piston_prepare(const md_fix *fix, const md_model *model, md_action *action)
{
  MD_TRY(prepare_scaling(fix, model));
  memcpy(action->k, fix->k, 3 * sizeof *fix->k);
  action->k[3] = model->dt;
  return MD_OK;
}

static const md_fix_style wall_piston_style = {
    .name = "wall/piston",
    .usage = "wall/piston zlo [pos Z] [vel VZ] [ramp] [units box|lattice]",
    .help = "a piston that moves upwards from Z (the lower face) with VZ (0), and reflects the particles of\n"
            "the group. ramp: its velocity goes from 0 to VZ in a run. Numbers are in lattice units unless\n"
            "units box is given",
    .forgets = "a wall that moves changes velocities by amounts that are rounded",
    .needs_box = true,
    .parse = wall_piston_parse,
    .join = join_force,
    .prepare = wall_piston_prepare,
};

#elif defined MD_FIX_FORMULAS

MD_FN bool md_wall_piston_drift(const md_action *a, const md_step *s, int64_t done, md_particle *p,
                                double by[3])
{
  const double t = (double)(s->ramp_done + done + 1) * a->k[3];
  const double V = a->k[2] != 0.0 ? md_step_ramp(s, 0.0, a->k[1], done + 1) : a->k[1];
  const double Z = fma(a->k[2] != 0.0 ? 0.5 * V : V, t, a->k[0]);
  const double v = p->v[2] * p->velocity_per_v, z = fma(v, a->k[3], p->x[2] + by[2]);
  if (!(z < Z)) return true;
  p->v[2] = md_round_to((2.0 * V - v) / p->velocity_per_v, p->v_step);
  by[2] += md_round_to(2.0 * Z - z - fma(p->v[2] * p->velocity_per_v, a->k[3], p->x[2] + by[2]), s->quantum);
  return true;
}

#endif
