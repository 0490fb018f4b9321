/* fix npt: velocity Verlet in a box that a barostat moves, with the thermostat of fix nvt. The equations are those of
 * Martyna, Tobias and Klein. With the momentum-like rates u_d of the sides, N particles, and n axes that change:
 *
 *   dx/dt = v + u x      dv/dt = F/m - (u + sum of u/(n N)) v - w_1 v      dL_d/dt = u_d L_d
 *   W_d du_d/dt = V (P_d - P0_d) + 2 K/(n N) - W_d u_d c_1                 W_d = (N + 1) T PDAMP_d^2
 *
 * with a chain of thermostats c_k on the u_d. A step is, as in LAMMPS (after Tuckerman et al.):
 *
 *   before   chain of the barostat, chain of the particles, u by half a step, v by exp(-h (u + ...)), h = dt/2
 *   step     kick, places and box by exp(h u), drift, places and box by exp(h u), forces, kick
 *   after    v by exp(-h (u + ...)), u by half a step, chain of the particles, chain of the barostat
 *
 * The two changes of the box around the drift are one before it, and a drift that is stretched by exp(h u): see
 * common/step/step.h. With mtk no the terms with 1/(n N) are left out.
 *
 * After a step one measure has the kinetic energy and the virial, in exact sums on all ranks. What a half makes of the
 * velocities changes the kinetic part by known factors, so that the half before the next step needs no other one.
 * With a constant T and constant pressures the motion conserves E and the energy of the chains, of u and of the volume,
 * which is f_ID.
 *
 * Cost: a step takes a sum over pairs for the virial besides its forces; engines may sum both in one pass.
 * References: Martyna, Tobias and Klein, J. Chem. Phys. 101 (1994) 4177; Tuckerman, Alejandre, Lopez-Rendon, Jochim and
 * Martyna, J. Phys. A 39 (2006) 5629; Parrinello and Rahman, J. Appl. Phys. 52 (1981) 7182; the LAMMPS manual.
 *
 * Numbers of the fix: k0 to k5 as of nvt; k6 is 1 if all axes have one rate: iso, or all are coupled; of axis d:
 * k[7 + d] and k[10 + d] the pressures, k[13 + d] PDAMP, 0 if it stays; k16 which axes are coupled; k17 thermostats of
 * the barostat's chain; k18 its parts; k19 mtk; k20 nreset; k[21 + d] the fixed point; k24 ptemp; k25 is 1 if pressures
 * may differ by axis; k26 is 1 if the deck gives the fixed point.
 * State: that of nvt, and from MD_FIX_MORE_AT on what npt_state says. Of its action: k[d] the factor of each axis.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(npt, "npt")

#elif defined MD_FIX_END

MD_FIX_END(npt)

#elif defined MD_FIX_HOST

enum { BARO_ISO = 6, BARO_START, BARO_STOP = 10, BARO_DAMP = 13, BARO_COUPLE = 16 };
enum {
  NPT_CHAIN_LENGTH = 17,
  NPT_LOOPS,
  NPT_MTK,
  NPT_RESET,
  NPT_POINT,
  NPT_TEMP = 24,
  NPT_STRAINS,
  NPT_GIVEN
};
enum { BARO_FREE, BARO_XYZ, BARO_XY, BARO_YZ, BARO_XZ };
enum {
  NPT_RATE,                       /* u of each axis */
  NPT_E = 3,                      /* of the barostat's chain: positions, ... */
  NPT_C = NPT_E + NVT_CHAIN,      /* ... and rates */
  NPT_MASS_T = NPT_C + NVT_CHAIN, /* the temperature of the masses, as an energy; 0: not known yet */
  NPT_VOLUME,                     /* of reference; 0: not known yet */
  NPT_LENGTH,                     /* of reference, of each axis */
  NPT_ATOMS = NPT_LENGTH + 3,
  NPT_CENTRE,                   /* the fixed point, unless the deck gives it: the middle of the first box */
  NPT_CENTRED = NPT_CENTRE + 3, /* 1: it is known */
  NPT_STATE
};
_Static_assert((int)NPT_STATE <= (int)MD_FIX_MORE, "the state of fix npt");

static double *npt_state(md_fix *fix) { return fix->state + MD_FIX_MORE_AT; }
static bool baro_moves(const md_fix *fix, int d) { return fix->k[BARO_DAMP + d] > 0.0; }

static int baro_axes(const md_fix *fix)
{
  return (int)baro_moves(fix, 0) + (int)baro_moves(fix, 1) + (int)baro_moves(fix, 2);
}

/* Reads three numbers PSTART PSTOP PDAMP into those of the axes from `first` on, before `last`. */
static md_status baro_numbers(md_fix *fix, char *const value[3], int first, int last)
{
  const char *name = md_fix_style_of(fix->kind)->name;
  double number[3];
  char what[64];
  static const char *const of[] = {"Pstart", "Pstop", "Pdamp"};
  for (int v = 0; v < 3; ++v) {
    snprintf(what, sizeof what, "%s of fix %s", of[v], name);
    MD_TRY(v < 2 ? md_word_double(value[v], what, &number[v]) : md_word_positive(value[v], what, &number[v]));
  }
  for (int d = first; d < last; ++d) {
    if (baro_moves(fix, d))
      return md_error(MD_USAGE, "fix %s: the axis %c has a pressure already; give one pressure for each axis",
                      name, 'x' + d);
    fix->k[BARO_START + d] = number[0];
    fix->k[BARO_STOP + d] = number[1];
    fix->k[BARO_DAMP + d] = number[2];
  }
  return MD_OK;
}

/* Reads a keyword about pressures at words->word[*w], with its values, and moves *w past them. *known: is it one? */
static md_status baro_keyword(md_fix *fix, const md_words *words, const md_fix_scope *scope, int *w,
                              bool *known)
{
  const char *keyword = words->word[*w], *name = md_fix_style_of(fix->kind)->name;
  char *const *value = words->word + *w + 1;
  const bool iso = strcmp(keyword, "iso") == 0, aniso = strcmp(keyword, "aniso") == 0;
  const bool axis = keyword[0] >= 'x' && keyword[0] <= 'z' && keyword[1] == '\0';
  const bool couple = strcmp(keyword, "couple") == 0;
  const int takes = couple ? 1 : 3, dim = scope->box->dim;
  static const char *const couples[] = {"none", "xyz", "xy", "yz", "xz"};
  *known = iso || aniso || axis || couple;
  if (!*known) return MD_OK;
  if (*w + takes >= words->n)
    return md_error(MD_USAGE, "fix %s: %s needs %s", name, keyword,
                    couple ? "none, xyz, xy, yz or xz" : "PSTART PSTOP PDAMP");
  *w += 1 + takes;
  if (axis && keyword[0] - 'x' >= dim)
    return md_error(MD_USAGE, "fix %s: two dimensions have no pressure along z", name);
  if (axis) fix->k[NPT_STRAINS] = 1.0;
  if (iso) fix->k[BARO_COUPLE] = BARO_XYZ;
  if (!couple)
    return baro_numbers(fix, value, axis ? keyword[0] - 'x' : 0, axis ? keyword[0] - 'x' + 1 : dim);
  for (int c = 0; c < 5; ++c)
    if (strcmp(value[0], couples[c]) == 0) {
      fix->k[BARO_COUPLE] = c;
      return MD_OK;
    }
  return md_error(MD_USAGE, "fix %s couple '%.64s' is unknown; accepted are none, xyz, xy, yz, xz", name,
                  value[0]);
}

/* The axes whose pressures are averaged: the first and the last. False: none. */
static bool baro_coupled(const md_fix *fix, int d)
{
  static const bool of[5][3] = {{false, false, false},
                                {true, true, true},
                                {true, true, false},
                                {false, true, true},
                                {true, false, true}};
  return of[(int)fix->k[BARO_COUPLE]][d];
}

/* Checks the axes, and that coupled ones have the same pressures. */
static md_status baro_check(const md_fix *fix, int dim)
{
  const char *name = md_fix_style_of(fix->kind)->name;
  const bool all = fix->k[BARO_COUPLE] == BARO_XYZ;
  int first = -1;
  if (baro_axes(fix) == 0)
    return md_error(MD_USAGE, "fix %s needs a pressure: iso, aniso, x, y or z, with PSTART PSTOP PDAMP",
                    name);
  if (!(fix->k[BARO_COUPLE] >= BARO_FREE && fix->k[BARO_COUPLE] <= BARO_XZ))
    return md_error(MD_USAGE, "fix %s: couple is none, xyz, xy, yz or xz", name);
  for (int d = 0; d < (all ? dim : 3); ++d) {
    if (!baro_coupled(fix, d)) continue;
    if (!baro_moves(fix, d))
      return md_error(MD_USAGE, "fix %s: the coupled axis %c needs a pressure", name, 'x' + d);
    if (first < 0) first = d;
    for (int k = BARO_START; k <= BARO_DAMP; k += 3)
      if (fix->k[k + d] != fix->k[k + first])
        return md_error(MD_USAGE, "fix %s: the coupled axes %c and %c must have the same numbers", name,
                        'x' + first, 'x' + d);
  }
  return MD_OK;
}

/* Checks what was read. All axes that are coupled are one, as with iso. */
static md_status baro_read(md_fix *fix, int dim)
{
  MD_TRY(baro_check(fix, dim));
  fix->k[BARO_ISO] = fix->k[BARO_COUPLE] == BARO_XYZ || (dim == 2 && fix->k[BARO_COUPLE] == BARO_XY);
  return MD_OK;
}

/* The present pressures in units of energy and length, from twice the kinetic energy and the virial of each axis, or of
 * all in the places 0 and 3. */
static void baro_pressures(const md_fix *fix, const md_box *box, const double *part, double pressure[3])
{
  const double volume = md_box_volume(box);
  double sum = 0.0;
  int n = 0;
  for (int d = 0; d < 3; ++d) {
    const bool iso = fix->k[BARO_ISO] != 0.0;
    pressure[d] = iso ? (part[0] + part[3]) / (box->dim * volume) : (part[d] + part[3 + d]) / volume;
    if (!baro_coupled(fix, d) || d >= box->dim) continue;
    sum += pressure[d];
    ++n;
  }
  for (int d = 0; d < 3 && n > 0; ++d)
    if (baro_coupled(fix, d)) pressure[d] = sum / n;
}

static int baro_parts(const md_fix *fix) { return fix->k[BARO_ISO] != 0.0 ? MD_PARTS_ALL : MD_PARTS_AXES; }

static void baro_changes(const md_fix *fix, const md_model *model, bool axis[3])
{
  (void)model;
  for (int d = 0; d < 3; ++d) axis[d] = axis[d] || baro_moves(fix, d);
}

/* ---- arguments ---- */

/* The keywords of npt and nph that are not about pressures, and not of the thermostat. */
static md_status npt_keyword(md_fix *fix, const md_words *words, int *w, bool *known)
{
  const char *keyword = words->word[*w], *name = md_fix_style_of(fix->kind)->name;
  char *const *value = words->word + *w + 1;
  static const struct {
    const char *name;
    int place, least, most;
  } counts[] = {{"pchain", NPT_CHAIN_LENGTH, 0, NVT_CHAIN},
                {"ploop", NPT_LOOPS, 1, 1000},
                {"nreset", NPT_RESET, 0, INT32_MAX},
                {"tchain", 3, 1, NVT_CHAIN},
                {"tloop", 4, 1, 1000}};
  const bool point = strcmp(keyword, "fixedpoint") == 0, mtk = strcmp(keyword, "mtk") == 0;
  const bool drag = strcmp(keyword, "drag") == 0, temp = strcmp(keyword, "ptemp") == 0;
  int c = 0;
  while (c < 5 && strcmp(keyword, counts[c].name) != 0) ++c;
  *known = c < 5 || point || mtk || drag || temp;
  if (!*known) return MD_OK;
  if (*w + (point ? 3 : 1) >= words->n)
    return md_error(MD_USAGE, "fix %s: %s needs %s", name, keyword, point ? "X Y Z" : "a value");
  *w += point ? 4 : 2;
  char what[64];
  int64_t count;
  bool yes;
  snprintf(what, sizeof what, "%s of fix %s", keyword, name);
  if (c < 5) {
    MD_TRY(md_word_int64(value[0], what, counts[c].least, counts[c].most, &count));
    fix->k[counts[c].place] = (double)count;
    return MD_OK;
  }
  for (int d = 0; d < 3 && point; ++d) MD_TRY(md_word_double(value[d], what, &fix->k[NPT_POINT + d]));
  if (point) fix->k[NPT_GIVEN] = 1.0;
  if (point) return MD_OK;
  if (drag) return parse_temperature(value[0], what, &fix->k[5]);
  if (temp) return md_word_positive(value[0], what, &fix->k[NPT_TEMP]);
  MD_TRY(md_word_bool(value[0], what, &yes));
  fix->k[NPT_MTK] = yes;
  return MD_OK;
}

/* Keywords of LAMMPS that change nothing here: all particles follow the box, and no box with a barostat is tilted. */
static md_status npt_idle_keyword(const md_fix *fix, const md_words *words, int *w, bool *known)
{
  static const char *const of_tilts[] = {"flip", "scalexy", "scaleyz", "scalexz"};
  const char *keyword = words->word[*w], *name = md_fix_style_of(fix->kind)->name;
  const char *value = *w + 1 < words->n ? words->word[*w + 1] : "";
  const bool dilates = strcmp(keyword, "dilate") == 0;
  int k = 0;
  while (k < 4 && strcmp(keyword, of_tilts[k]) != 0) ++k;
  *known = dilates || k < 4;
  if (!*known) return MD_OK;
  *w += 2;
  if (dilates && strcmp(value, "all") != 0)
    return md_error(MD_USAGE, "fix %s dilate '%.64s' is not available; the group is all", name, value);
  bool yes;
  char what[64];
  snprintf(what, sizeof what, "%s of fix %s", keyword, name);
  return dilates ? MD_OK : md_word_bool(value, what, &yes);
}

static md_status npt_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  const bool heats = fix->kind == MD_FIX_npt;
  const char *name = md_fix_style_of(fix->kind)->name;
  fix->k[3] = fix->k[NPT_CHAIN_LENGTH] = 3.0;
  fix->k[4] = fix->k[NPT_LOOPS] = fix->k[NPT_MTK] = 1.0;
  for (int d = 0; d < 3; ++d) fix->k[NPT_POINT + d] = 0.5 * (scope->box->lo[d] + scope->box->hi[d]);
  for (int w = 0; w < words->n;) {
    bool known;
    MD_TRY(baro_keyword(fix, words, scope, &w, &known));
    if (!known) MD_TRY(npt_keyword(fix, words, &w, &known));
    if (!known) MD_TRY(npt_idle_keyword(fix, words, &w, &known));
    if (known) continue;
    if (strcmp(words->word[w], "temp") != 0 || !heats)
      return md_error(
          MD_USAGE,
          "fix %s: unknown keyword '%.64s'; accepted are %siso, aniso, x, y, z, couple, tchain, tloop, "
          "pchain, ploop, mtk, drag, nreset, fixedpoint, ptemp, dilate, flip, scalexy, scaleyz, scalexz",
          name, words->word[w], heats ? "temp, " : "");
    MD_TRY(nvt_keyword(fix, words, &w));
  }
  MD_TRY(baro_read(fix, scope->box->dim));
  if (!heats || fix->k[2] > 0.0) return MD_OK;
  return md_error(MD_USAGE, "fix npt needs a temperature: temp TSTART TSTOP TDAMP; without one use fix nph");
}

static md_status npt_join(const md_fix *fix, md_model *model)
{
  MD_TRY(baro_check(fix, model->box.dim));
  if (fix->kind == MD_FIX_npt) return nvt_join(fix, model);
  model->hottest = md_max(model->hottest, model->units->boltz * fix->k[NPT_TEMP]);
  return join_integrator(fix, model, MD_NVE);
}

/* The temperature of the chains as an energy, `done` steps from now. */
static double npt_target(const md_fix *fix, const md_model *model, const md_step *step, int64_t done)
{
  return fix->kind == MD_FIX_npt ? model->units->boltz * md_step_ramp(step, fix->k[0], fix->k[1], done)
                                 : fix->state[MD_FIX_MORE_AT + NPT_MASS_T];
}

static void npt_refer(md_fix *fix, const md_box *box)
{
  double *s = npt_state(fix);
  s[NPT_VOLUME] = md_box_volume(box);
  for (int d = 0; d < 3; ++d) s[NPT_LENGTH + d] = box->length[d];
}

/* Whether the box of this step is one of reference, by nreset. As in LAMMPS, that needs pressures by axis. */
static bool npt_resets(const md_fix *fix, int64_t steps)
{
  const int64_t every = (int64_t)fix->k[NPT_RESET];
  return every > 0 && fix->k[NPT_STRAINS] != 0.0 && steps % every == 0;
}

/* At the beginning of a run the masses follow from the temperature, and at the first one the reference is known. A run
 * that is a part of a longer one keeps the masses of that one, so that parts have the bits of the whole. */
static void npt_begin(md_fix *fix, const md_model *model, bool goes_on)
{
  double *s = npt_state(fix);
  const md_box box = md_model_shown_box(model);
  (void)goes_on;
  s[NPT_ATOMS] = (double)model->natoms;
  if (fix->kind == MD_FIX_npt && (model->step == model->run_begin || s[NPT_MASS_T] == 0.0)) {
    const md_step step = md_step_of(model);
    s[NPT_MASS_T] = npt_target(fix, model, &step, 0);
  } else if (fix->kind != MD_FIX_npt && fix->k[NPT_TEMP] > 0.0) {
    s[NPT_MASS_T] = model->units->boltz * fix->k[NPT_TEMP];
  }
  if (s[NPT_CENTRED] == 0.0) memcpy(&s[NPT_CENTRE], &fix->k[NPT_POINT], 3 * sizeof *s);
  s[NPT_CENTRED] = 1.0;
  if (s[NPT_VOLUME] == 0.0 || (model->step == model->run_begin && npt_resets(fix, 0))) npt_refer(fix, &box);
}

/* ---- the barostat ---- */

static double npt_mass(const md_fix *fix, int d)
{
  const double *s = fix->state + MD_FIX_MORE_AT;
  return (s[NPT_ATOMS] + 1.0) * s[NPT_MASS_T] * fix->k[BARO_DAMP + d] * fix->k[BARO_DAMP + d];
}

static double npt_shortest(const md_fix *fix)
{
  double least = (double)INFINITY;
  for (int d = 0; d < 3; ++d)
    if (baro_moves(fix, d)) least = md_min(least, fix->k[BARO_DAMP + d]);
  return least;
}

/* The target of each axis, in units of energy and length, and their mean. */
static double npt_pressures(const md_fix *fix, const md_model *model, const md_step *step, int64_t done,
                            double target[3])
{
  double sum = 0.0;
  for (int d = 0; d < 3; ++d) {
    target[d] = 0.0;
    if (!baro_moves(fix, d)) continue;
    target[d] =
        md_step_ramp(step, fix->k[BARO_START + d], fix->k[BARO_STOP + d], done) / model->units->nktv2p;
    sum += target[d];
  }
  return sum / baro_axes(fix);
}

/* The force of strain on each side, where pressures differ by axis. That on a side that stays is only for its
 * energy. */
static void npt_strain(const md_fix *fix, const md_box *box, const double target[3], double mean,
                       double force[3])
{
  const double *s = fix->state + MD_FIX_MORE_AT;
  for (int d = 0; d < 3; ++d) {
    const double ratio = box->length[d] / s[NPT_LENGTH + d];
    force[d] = fix->k[NPT_STRAINS] != 0.0 ? s[NPT_VOLUME] * (target[d] - mean) * ratio * ratio : 0.0;
  }
}

/* Twice the kinetic energy of the rates, and their number. */
static double npt_kinetic2(const md_fix *fix)
{
  const double *u = fix->state + MD_FIX_MORE_AT + NPT_RATE;
  double kinetic2 = 0.0;
  for (int d = 0; d < 3; ++d)
    if (baro_moves(fix, d)) kinetic2 += npt_mass(fix, d) * u[d] * u[d];
  return kinetic2;
}

/* One half of the barostat's chain. last: the target of the half before, which still drives the later thermostats at
 * first, as in LAMMPS. */
static void npt_turn(md_fix *fix, double dt, double target, double last)
{
  double *s = npt_state(fix);
  const double shortest = npt_shortest(fix), loops = fix->k[NPT_LOOPS], h = 0.5 * dt / loops;
  const double keep = 1.0 - dt * fix->k[5] / (shortest * loops);
  nvt_chain c = {.n = (int)fix->k[NPT_CHAIN_LENGTH],
                 .target = target,
                 .freedom = fix->k[BARO_ISO] != 0.0 ? 1.0 : baro_axes(fix)};
  for (int k = 0; k < c.n; ++k) {
    c.e[k] = s[NPT_E + k];
    c.w[k] = s[NPT_C + k];
    c.mass[k] = s[NPT_MASS_T] * shortest * shortest;
  }
  for (int loop = 0; loop < (int)loops && c.n > 0; ++loop) {
    c.target = loop == 0 ? last : target;
    for (int k = c.n - 1; k > 0; --k) nvt_push(&c, k, h, 0.0, keep);
    c.target = target;
    nvt_push(&c, 0, h, npt_kinetic2(fix), keep);
    const double scale = md_exp(-h * c.w[0]);
    for (int d = 0; d < 3; ++d) s[NPT_RATE + d] *= scale;
    for (int k = 0; k < c.n; ++k) c.e[k] += h * c.w[k];
    for (int k = 0; k < c.n; ++k) nvt_push(&c, k, h, npt_kinetic2(fix), 1.0);
  }
  for (int k = 0; k < c.n; ++k) {
    s[NPT_E + k] = c.e[k];
    s[NPT_C + k] = c.w[k];
  }
}

/* Moves the rates by half a step. part: of the values. */
static void npt_push(md_fix *fix, const md_model *model, const md_step *step, int64_t done,
                     const double *value)
{
  const md_box box = md_model_shown_box(model);
  const double *part = value + MD_COMPUTE_TERMS, volume = md_box_volume(&box);
  double *s = npt_state(fix), pressure[3], target[3], strain[3], kinetic2 = 0.0;
  if (done == 1 && npt_resets(fix, model->step + 1 - model->run_begin)) npt_refer(fix, &box);
  const double mean = npt_pressures(fix, model, step, done, target);
  baro_pressures(fix, &box, part, pressure);
  npt_strain(fix, &box, target, mean, strain);
  for (int d = 0; d < 3; ++d)
    if (baro_moves(fix, d)) kinetic2 += fix->k[BARO_ISO] != 0.0 ? part[0] / baro_axes(fix) : part[d];
  const double more = fix->k[NPT_MTK] != 0.0 ? kinetic2 / (baro_axes(fix) * s[NPT_ATOMS]) : 0.0;
  const double keep = 1.0 - model->dt * fix->k[5] / (npt_shortest(fix) * fix->k[NPT_LOOPS]);
  for (int d = 0; d < 3; ++d) {
    if (!baro_moves(fix, d)) continue;
    const double force = (pressure[d] - mean) * volume + more - strain[d];
    s[NPT_RATE + d] = (s[NPT_RATE + d] + 0.5 * model->dt * (force / npt_mass(fix, d))) * keep;
  }
}

/* Multiplies the factors of the action, and the kinetic parts of the values, by those of a half step with the rates. */
static void npt_drag(const md_fix *fix, const md_model *model, double *value, md_action *action)
{
  const double *u = fix->state + MD_FIX_MORE_AT + NPT_RATE;
  double *part = value + MD_COMPUTE_TERMS, rate = 0.0;
  for (int d = 0; d < 3; ++d) rate += u[d];
  rate = fix->k[NPT_MTK] != 0.0 ? rate / (baro_axes(fix) * fix->state[MD_FIX_MORE_AT + NPT_ATOMS]) : 0.0;
  for (int d = 0; d < model->box.dim; ++d) {
    const double factor = md_exp(-0.5 * model->dt * (u[d] + rate));
    action->k[d] *= factor;
    if (fix->k[BARO_ISO] != 0.0 && d > 0) continue;
    value[MD_TEMPERATURE_KINETIC] += 0.5 * part[d] * (factor * factor - 1.0);
    part[d] *= factor * factor;
  }
}

/* The thermostat of the particles. */
static void npt_heat(md_fix *fix, const md_model *model, double target, double *value, md_action *action)
{
  double kinetic2 = 2.0 * value[MD_TEMPERATURE_KINETIC];
  if (fix->kind != MD_FIX_npt || !(value[MD_TEMPERATURE_FREEDOM] > 0.0)) return;
  const double factor = nvt_turn(fix, model->dt, target, value[MD_TEMPERATURE_FREEDOM], &kinetic2);
  value[MD_TEMPERATURE_KINETIC] = 0.5 * kinetic2;
  for (int d = 0; d < 3; ++d) {
    action->k[d] *= factor;
    value[MD_COMPUTE_TERMS + d] *= factor * factor;
  }
}

static md_status npt_half(md_fix *fix, const md_model *model, const md_step *step, int64_t done,
                          double *value, md_action *action, bool *acts)
{
  double *s = npt_state(fix);
  *acts = true;
  for (int d = 0; d < 3; ++d) action->k[d] = 1.0;
  if (s[NPT_MASS_T] == 0.0) {
    s[NPT_MASS_T] = 2.0 * value[MD_TEMPERATURE_KINETIC] / value[MD_TEMPERATURE_FREEDOM];
    if (!(s[NPT_MASS_T] > 1e-6 * model->units->boltz))
      return md_error(MD_USAGE, "fix %s: the temperature is too low for the mass of the barostat%s",
                      md_fix_style_of(fix->kind)->name, fix->kind == MD_FIX_npt ? "" : "; give ptemp");
  }
  if (done == 1) {
    npt_turn(fix, model->dt, npt_target(fix, model, step, 0), npt_target(fix, model, step, 0));
    npt_heat(fix, model, npt_target(fix, model, step, 1), value, action);
    npt_push(fix, model, step, 1, value);
    npt_drag(fix, model, value, action);
  } else {
    npt_drag(fix, model, value, action);
    npt_push(fix, model, step, 0, value);
    npt_heat(fix, model, npt_target(fix, model, step, 0), value, action);
    npt_turn(fix, model->dt, npt_target(fix, model, step, 0), npt_target(fix, model, step, -1));
  }
  if (isfinite(action->k[0]) && isfinite(action->k[1]) && isfinite(action->k[2])) return MD_OK;
  return md_error(MD_PHYSICS,
                  "step %lld: the barostat is not finite; take a larger Pdamp or a smaller timestep",
                  (long long)model->step);
}

static md_status npt_move_box(md_fix *fix, const md_model *model, bool before, const double *value,
                              md_box_move *move)
{
  (void)value;
  for (int d = 0; d < 3 && before; ++d) {
    if (!baro_moves(fix, d)) continue;
    const double point = fix->k[NPT_GIVEN] != 0.0 ? fix->k[NPT_POINT + d] : npt_state(fix)[NPT_CENTRE + d];
    const double half = md_exp(0.5 * model->dt * npt_state(fix)[NPT_RATE + d]);
    move->lo[d] = point + (move->lo[d] - point) * half * half;
    move->hi[d] = point + (move->hi[d] - point) * half * half;
    move->stretch[d] = half;
    move->carried[d] = MD_GROUP_ALL;
  }
  return MD_OK;
}

static double npt_coupled(const md_fix *fix, const md_model *model, const md_step *step, double freedom)
{
  const double *s = fix->state + MD_FIX_MORE_AT, shortest = npt_shortest(fix);
  const double target = npt_target(fix, model, step, 0),
               axes = fix->k[BARO_ISO] != 0.0 ? 1.0 : baro_axes(fix);
  /* A minimisation before its first run shows it too. */
  if (s[NPT_VOLUME] == 0.0) return 0.0;
  md_box box = {.dim = step->dim};
  double pressure[3], strain[3],
      energy = fix->kind == MD_FIX_npt ? nvt_coupled(fix, model, step, freedom) : 0.0;
  for (int d = 0; d < 3; ++d) box.length[d] = step->length[d];
  const double mean = npt_pressures(fix, model, step, 0, pressure);
  npt_strain(fix, &box, pressure, mean, strain);
  energy += 0.5 * npt_kinetic2(fix) + mean * (md_box_volume(&box) - s[NPT_VOLUME]);
  for (int d = 0; d < 3; ++d) energy += 0.5 * strain[d];
  for (int k = 0; k < (int)fix->k[NPT_CHAIN_LENGTH]; ++k)
    energy += target * (k == 0 ? axes : 1.0) * s[NPT_E + k] +
              0.5 * s[NPT_MASS_T] * shortest * shortest * s[NPT_C + k] * s[NPT_C + k];
  return energy;
}

static const md_fix_style npt_style = {
    .name = "npt",
    .usage = "npt temp TSTART TSTOP TDAMP iso|aniso|x|y|z PSTART PSTOP PDAMP ... [couple none|xyz|xy|yz|xz] "
             "[tchain N] [pchain N] [tloop N] [ploop N] [mtk yes|no] [drag D] [nreset N] [fixedpoint X Y Z] "
             "[ptemp T] [dilate all]",
    .help = "fix nvt in a box whose sides a barostat of Martyna, Tobias and Klein moves; PDAMP is the time "
            "in which\n"
            "the pressure answers. f_ID is the energy of chains, barostat and volume, also in ecouple",
    .forgets = "the places and velocities that it scales are rounded",
    .needs_box = true,
    .all_only = true,
    .nstate = MD_FIX_STATE,
    .parse = npt_parse,
    .join = npt_join,
    .prepare = nvt_prepare,
    .every = nvt_every,
    .scaling = MD_SCALES_AXES,
    .measures = MD_COMPUTE_temp,
    .parts = baro_parts,
    .half = npt_half,
    .integrates = true,
    .changes = baro_changes,
    .move_box = npt_move_box,
    .begin = npt_begin,
    .coupled = npt_coupled,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_npt_end(const md_action *a, const md_step *s, md_particle *p)
{
  for (int d = 0; d < 3 && d < s->dim; ++d) p->v[d] = md_step_scaled(p->v[d], 0.0, a->k[d], p->v_step);
}

#endif
