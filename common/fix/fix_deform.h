/* fix deform: changes the faces of the box in a given way, and takes the particles of its group with them.
 *
 * After every N-th step of a run the faces of an axis become, with L0 the length and c the centre at the beginning of
 * the run, t the time since then and s the part of the run that is done. A run that is a part of a longer one (`run
 * start`) has its t and s. It goes on with the box of the part before, or else begins with that of the first run with
 * the fix, as in LAMMPS.
 *
 *   final LO HI, delta DLO DHI, scale F, vel V, erate R
 *            the faces go linearly to LO and HI; DLO and DHI farther; F L0 apart; V t farther apart; L = L0 (1 + R t)
 *   trate R         L = L0 exp(R t)
 *   wiggle A TP     L = L0 + A sin(2 pi t/TP)
 *   volume          the volume stays as it was, while other axes change; two axes of this style share the change
 *
 * and the tilt factors of a triclinic box, with T0 the one at the beginning and L0 the side y for xy, z for xz and yz:
 *
 *   final V, delta V, vel V, erate R, wiggle A TP
 *            goes linearly to V, to T0 + V; T0 + V t; T0 + R L0 t; T0 + A sin(2 pi t/TP)
 *
 * With flip yes a tilt factor of more than half a side becomes one of less, which has the same images. With remap v
 * particles stay where they are, and the velocity of a particle changes by that of the faces that it goes through
 * (md_flow). A shear at constant rate is a function of the step alone.
 *
 * The centre c stays, but with final and delta. Particles go to the same fraction of the box (remap x), or stay where
 * they are (none). The change belongs to the next step (common/step/step.h), so that a step costs no more.
 * Reference: the LAMMPS manual, fix deform.
 *
 * Numbers of the fix: k0 N, k1 is 0, 1 or 2 for remap none, x or v; of axis d, or tilt factor d - 3: k[2 + 3 d] the
 * style, and two numbers; k20 is 1 for flip yes.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(deform, "deform")

#elif defined MD_FIX_HOST

typedef enum deform_way {
  DEFORM_NONE,
  DEFORM_FINAL,
  DEFORM_DELTA,
  DEFORM_SCALE,
  DEFORM_VEL,
  DEFORM_ERATE,
  DEFORM_TRATE,
  DEFORM_WIGGLE,
  DEFORM_VOLUME,
  DEFORM_WAYS
} deform_way;

static const struct {
  const char *name;
  int values;
  bool length; /* are they lengths, at least the first one? */
} deform_ways[DEFORM_WAYS] = {
    [DEFORM_NONE] = {"", 0, false},         [DEFORM_FINAL] = {"final", 2, true},
    [DEFORM_DELTA] = {"delta", 2, true},    [DEFORM_SCALE] = {"scale", 1, false},
    [DEFORM_VEL] = {"vel", 1, true},        [DEFORM_ERATE] = {"erate", 1, false},
    [DEFORM_TRATE] = {"trate", 1, false},   [DEFORM_WIGGLE] = {"wiggle", 2, true},
    [DEFORM_VOLUME] = {"volume", 0, false},
};

enum { DEFORM_AXIS = 2, DEFORM_PARTS = 6, DEFORM_FLIP = 20 };

/* The state: 0 the box of the beginning is known, 1 to 9 its faces and tilt factors, 10 the step to which it belongs,
 * 11 how many runs began since and are not undone, 12 and on the steps at which they began; the faces and tilt factors
 * at the beginning of the first run. */
enum {
  DEFORM_BOX = 1,
  DEFORM_BOX_NUMBERS = 9,
  DEFORM_FROM = 10,
  DEFORM_RUNS = 11,
  DEFORM_BEGAN = 12,
  DEFORM_RUNS_MAX = 32,
  DEFORM_FIRST_BOX = DEFORM_BEGAN + DEFORM_RUNS_MAX,
  DEFORM_STATE = DEFORM_FIRST_BOX + DEFORM_BOX_NUMBERS
};
enum { DEFORM_REMAP_NONE, DEFORM_REMAP_X, DEFORM_REMAP_V };

static const char *const deform_names[DEFORM_PARTS] = {"x", "y", "z", "xy", "xz", "yz"};

/* The part of the box that a word names, or DEFORM_PARTS. */
static int deform_part_of(const char *word)
{
  int part = 0;
  while (part < DEFORM_PARTS && strcmp(word, deform_names[part]) != 0) ++part;
  return part;
}

/* The axis along which a part of the box is measured, and for a tilt factor that across which it shears. */
static int deform_along(int part) { return part < 3 ? part : part == 5 ? 1 : 0; }
static int deform_across(int part) { return part == 3 ? 1 : 2; }

static deform_way deform_way_of(const md_fix *fix, int d) { return (deform_way)fix->k[DEFORM_AXIS + 3 * d]; }

/* The number of values of a style. The faces of an axis have two targets, and a tilt factor has one. */
static int deform_values(int part, int way)
{
  return part >= 3 && (way == DEFORM_FINAL || way == DEFORM_DELTA) ? 1 : deform_ways[way].values;
}

static bool deform_has(int part, int way)
{
  return part < 3 || way == DEFORM_FINAL || way == DEFORM_DELTA || way == DEFORM_VEL || way == DEFORM_ERATE ||
         way == DEFORM_TRATE || way == DEFORM_WIGGLE;
}

static md_status deform_unknown(int part, const char *word)
{
  const char *name = deform_names[part];
  if (strcmp(word, "variable") == 0)
    return md_error(
        MD_USAGE, "fix deform %s variable: formulas are not evaluated within steps; use another style", name);
  if (part >= 3)
    return md_error(
        MD_USAGE,
        "fix deform %s: unknown style '%.64s'; accepted are final V, delta V, vel V, erate R, trate R, "
        "wiggle A TP",
        name, word);
  return md_error(
      MD_USAGE,
      "fix deform %s: unknown style '%.64s'; accepted are final LO HI, delta DLO DHI, scale F, vel V, "
      "erate R, trate R, wiggle A TP, volume",
      name, word);
}

/* Reads what stands after x, y, z, xy, xz or yz at words->word[*w], and moves *w past it. */
static md_status deform_axis(md_fix *fix, const md_words *words, int *w)
{
  const int part = deform_part_of(words->word[*w]), first = *w + 1;
  const char *name = deform_names[part];
  int way = DEFORM_FINAL;
  if (first >= words->n) return md_error(MD_USAGE, "fix deform %s needs a style", name);
  while (way < DEFORM_WAYS && strcmp(words->word[first], deform_ways[way].name) != 0) ++way;
  if (way == DEFORM_WAYS || !deform_has(part, way)) return deform_unknown(part, words->word[first]);
  const int values = deform_values(part, way);
  if (first + values >= words->n)
    return md_error(MD_USAGE, "fix deform %s %s needs %d number%s", name, deform_ways[way].name, values,
                    values == 1 ? "" : "s");
  double *k = fix->k + DEFORM_AXIS + 3 * part;
  if (k[0] != 0.0) return md_error(MD_USAGE, "fix deform: %s comes twice", name);
  k[0] = way;
  for (int v = 0; v < values; ++v) {
    char what[48];
    snprintf(what, sizeof what, "a number of fix deform %s", name);
    MD_TRY(md_word_double(words->word[first + 1 + v], what, &k[1 + v]));
  }
  *w = first + 1 + values;
  return MD_OK;
}

/* Reads a keyword and its value at words->word[*w]. */
static md_status deform_keyword(md_fix *fix, const md_words *words, int *w, bool *in_lattice)
{
  const char *keyword = words->word[*w];
  const bool remap = strcmp(keyword, "remap") == 0, units = strcmp(keyword, "units") == 0;
  if (!remap && !units && strcmp(keyword, "flip") != 0)
    return md_error(MD_USAGE,
                    "fix deform: unknown keyword '%.64s'; accepted are x, y, z, xy, xz, yz, remap, "
                    "units, flip",
                    keyword);
  if (*w + 1 >= words->n) return md_error(MD_USAGE, "fix deform: %s needs a value", keyword);
  const char *value = words->word[*w + 1];
  *w += 2;
  bool flips;
  if (units && (strcmp(value, "box") == 0 || strcmp(value, "lattice") == 0)) {
    *in_lattice = value[0] == 'l';
    return MD_OK;
  }
  if (units)
    return md_error(MD_USAGE, "fix deform units '%.64s' is unknown; accepted are box, lattice", value);
  if (!remap) {
    MD_TRY(md_word_bool(value, "fix deform flip", &flips));
    fix->k[DEFORM_FLIP] = flips;
    return MD_OK;
  }
  static const char *const remaps[] = {"none", "x", "v"};
  for (int r = 0; r < 3; ++r) {
    if (strcmp(value, remaps[r]) != 0) continue;
    fix->k[1] = r;
    return MD_OK;
  }
  return md_error(MD_USAGE, "fix deform remap '%.64s' is unknown; accepted are x, v, none", value);
}

static md_status deform_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  int64_t every;
  bool in_lattice = true;
  if (words->n < 2)
    return md_error(MD_USAGE, "fix deform needs N, and axes with their styles, such as x erate 0.01");
  MD_TRY(md_word_int64(words->word[0], "N of fix deform", 1, INT64_C(1) << 53, &every));
  fix->k[0] = (double)every;
  fix->k[1] = DEFORM_REMAP_X;
  fix->k[DEFORM_FLIP] = 1.0;
  for (int w = 1; w < words->n;) {
    const bool axis = deform_part_of(words->word[w]) < DEFORM_PARTS;
    MD_TRY(axis ? deform_axis(fix, words, &w) : deform_keyword(fix, words, &w, &in_lattice));
  }
  for (int part = 0; part < DEFORM_PARTS && in_lattice; ++part) {
    double *k = fix->k + DEFORM_AXIS + 3 * part;
    const bool both = k[0] == DEFORM_FINAL || k[0] == DEFORM_DELTA;
    if (deform_ways[(int)k[0]].length) k[1] *= scope->lattice[deform_along(part)];
    if (both) k[2] *= scope->lattice[deform_along(part)];
  }
  return MD_OK;
}

/* The number of axes of style volume, and of those that change by themselves. */
static int deform_count(const md_fix *fix, bool by_volume)
{
  int n = 0;
  for (int d = 0; d < 3; ++d)
    n += deform_way_of(fix, d) != DEFORM_NONE && (deform_way_of(fix, d) == DEFORM_VOLUME) == by_volume;
  return n;
}

/* The rate of a shear belongs to a side that stays. With remap v it is the same in all of a run. */
static md_status deform_check_shear(const md_fix *fix)
{
  bool flows = false;
  for (int part = 3; part < DEFORM_PARTS; ++part) {
    const deform_way way = deform_way_of(fix, part);
    if (way == DEFORM_NONE) continue;
    flows = true;
    if (deform_way_of(fix, deform_across(part)) != DEFORM_NONE)
      return md_error(MD_USAGE, "fix deform %s: the side %c may not change too; change it in another run",
                      deform_names[part], "xyz"[deform_across(part)]);
    if (fix->k[1] == DEFORM_REMAP_V && way != DEFORM_ERATE && way != DEFORM_VEL)
      return md_error(MD_USAGE,
                      "fix deform %s: with remap v the rate must be constant; accepted are erate and vel",
                      deform_names[part]);
  }
  if (fix->k[1] == DEFORM_REMAP_V && (!flows || deform_count(fix, false) + deform_count(fix, true) > 0))
    return md_error(MD_USAGE,
                    "fix deform remap v: only tilt factors may change with it; use remap x or none");
  return MD_OK;
}

static md_status deform_join(const md_fix *fix, md_model *model)
{
  (void)model;
  bool good = fix->k[0] >= 1.0 && fix->k[0] <= 0x1p53;
  for (int part = 0; part < DEFORM_PARTS; ++part) {
    const double *k = fix->k + DEFORM_AXIS + 3 * part;
    good = good && k[0] >= 0.0 && k[0] < DEFORM_WAYS && k[0] == rint(k[0]) &&
           (k[0] == DEFORM_NONE || deform_has(part, (int)k[0]));
    if (good && k[0] == DEFORM_WIGGLE && !(k[2] > 0.0))
      return md_error(MD_USAGE, "fix deform %s wiggle: the period must be positive", deform_names[part]);
  }
  for (int d = 0; d < 3; ++d) {
    const double *k = fix->k + DEFORM_AXIS + 3 * d;
    if (good && deform_way_of(fix, d) == DEFORM_SCALE && !(k[1] > 0.0))
      return md_error(MD_USAGE, "fix deform %c scale: the factor must be positive", 'x' + d);
    if (good && deform_way_of(fix, d) == DEFORM_FINAL && !(k[2] > k[1]))
      return md_error(MD_USAGE, "fix deform %c final: the upper face must lie above the lower one", 'x' + d);
  }
  if (!good) return md_error(MD_USAGE, "fix deform: its numbers are not valid");
  if (deform_count(fix, true) > 0 && deform_count(fix, false) == 0)
    return md_error(MD_USAGE, "fix deform: with volume for one axis, another axis must have another style");
  return deform_check_shear(fix);
}

static int64_t deform_every(const md_fix *fix) { return (int64_t)fix->k[0]; }

static void deform_changes(const md_fix *fix, const md_model *model, bool axis[3])
{
  (void)model;
  for (int d = 0; d < 3; ++d) axis[d] = axis[d] || deform_way_of(fix, d) != DEFORM_NONE;
}

static void deform_shears(const md_fix *fix, bool tilt[3])
{
  for (int k = 0; k < 3; ++k) tilt[k] = tilt[k] || deform_way_of(fix, 3 + k) != DEFORM_NONE;
}

/* The rate of a tilt factor, with erate or vel. */
static double deform_rate(const md_fix *fix, const md_model *model, int part)
{
  const double value = fix->k[DEFORM_AXIS + 3 * part + 1];
  const deform_way way = deform_way_of(fix, part);
  return way == DEFORM_ERATE ? value * model->box.length[deform_across(part)]
         : way == DEFORM_VEL ? value
                             : 0.0;
}

/* MD_USAGE: particles that are not carried would stay where their images in the brick are, and not those in the
 * parallelepiped. They are apart by multiples of an edge, which must not change then. */
static md_status deform_check_images(const md_fix *fix, const md_model *model)
{
  const double *tilt = model->box.tilt;
  bool changes[DEFORM_PARTS];
  if (!model->box.triclinic || fix->k[1] == DEFORM_REMAP_V ||
      (fix->k[1] == DEFORM_REMAP_X && md_group_bit(fix->group) == MD_GROUP_ALL))
    return MD_OK;
  for (int part = 0; part < DEFORM_PARTS; ++part) changes[part] = deform_way_of(fix, part) != DEFORM_NONE;
  const bool by_y = tilt[MD_XY] != 0.0 || changes[3 + MD_XY], by_z = tilt[MD_XZ] != 0.0 || changes[3 + MD_XZ];
  const bool b_by_z = tilt[MD_YZ] != 0.0 || changes[3 + MD_YZ];
  const bool a_apart = changes[0] && (by_y || by_z);
  const bool b_apart = (changes[1] || changes[3 + MD_XY]) && b_by_z;
  if (!a_apart && !b_apart) return MD_OK;
  return md_error(
      MD_USAGE,
      "fix deform: in a tilted box particles that are not carried would move with the faces where %s "
      "changes; use remap x with the group all, or a box without %s",
      a_apart      ? "x"
      : changes[1] ? "y"
                   : "xy",
      a_apart ? "xy and xz" : "yz");
}

static md_status deform_flow(const md_fix *fix, const md_model *model, md_flow *flow)
{
  MD_TRY(deform_check_images(fix, model));
  if (fix->k[1] == DEFORM_REMAP_V) flow->group = md_group_bit(fix->group);
  for (int k = 0; k < 3; ++k) {
    flow->rate[k] = deform_rate(fix, model, 3 + k);
    if (deform_way_of(fix, 3 + k) == DEFORM_TRATE && model->box.tilt[k] == 0.0)
      return md_error(MD_USAGE, "fix deform %s trate: the tilt factor is 0, and would stay 0; use erate",
                      deform_names[3 + k]);
    if (!(fabs(flow->rate[k]) <= model->speed_limit))
      return md_error(MD_USAGE, "fix deform %s: the faces would have the speed %g, beyond the limit of %g",
                      deform_names[3 + k], flow->rate[k], model->speed_limit);
  }
  /* After a flip of yz the edge of z would have a part of the rate of xy. */
  if (flow->group != 0 && flow->rate[MD_XY] != 0.0 && flow->rate[MD_YZ] != 0.0)
    return md_error(MD_USAGE, "fix deform remap v: xy and yz may not both change");
  /* The image in the brick and that in the parallelepiped would have other velocities. */
  if (flow->group != 0 && flow->rate[MD_XY] != 0.0 && model->box.tilt[MD_YZ] != 0.0)
    return md_error(MD_USAGE, "fix deform remap v: xy may not change in a box whose yz, %g, is not 0",
                    model->box.tilt[MD_YZ]);
  return MD_OK;
}

/* The faces of an axis that changes by itself. */
static void deform_target(const md_fix *fix, const md_model *model, int d, double *lo, double *hi)
{
  const double *k = fix->k + DEFORM_AXIS + 3 * d, lo0 = fix->state[1 + d], hi0 = fix->state[4 + d];
  const double steps = (double)(model->step - model->run_begin),
               span = (double)(model->run_end - model->run_begin);
  const double part = span > 0.0 ? steps / span : 1.0, time = steps * model->dt, length = hi0 - lo0;
  double longer = 0.0;
  switch (deform_way_of(fix, d)) {
  case DEFORM_FINAL:
    *lo = lo0 + part * (k[1] - lo0);
    *hi = hi0 + part * (k[2] - hi0);
    return;
  case DEFORM_DELTA:
    *lo = lo0 + part * k[1];
    *hi = hi0 + part * k[2];
    return;
  case DEFORM_SCALE: longer = part * (k[1] - 1.0) * length; break;
  case DEFORM_VEL: longer = k[1] * time; break;
  case DEFORM_ERATE: longer = k[1] * time * length; break;
  case DEFORM_TRATE: longer = (md_exp(k[1] * time) - 1.0) * length; break;
  case DEFORM_WIGGLE: longer = k[1] * md_sin_turns(time / k[2]); break;
  default: break;
  }
  *lo = lo0 - 0.5 * longer;
  *hi = hi0 + 0.5 * longer;
}

/* A tilt factor that changes, as the fix makes it after a step. */
static double deform_tilt(const md_fix *fix, const md_model *model, int part, int64_t step)
{
  const double *k = fix->k + DEFORM_AXIS + 3 * part, before = fix->state[4 + part];
  const double steps = (double)step - fix->state[DEFORM_FROM], time = steps * model->dt;
  const double span = (double)(model->run_end - model->run_begin), share = span > 0.0 ? steps / span : 1.0;
  switch (deform_way_of(fix, part)) {
  case DEFORM_FINAL: return before + share * (k[1] - before);
  case DEFORM_DELTA: return before + share * k[1];
  case DEFORM_WIGGLE: return before + k[1] * md_sin_turns(time / k[2]);
  case DEFORM_TRATE: return before * md_exp(k[1] * time);
  default: return before + deform_rate(fix, model, part) * time;
  }
}

/* Changes the tilt factors of *move, whose faces are known, to those after a step. */
static void deform_shear(const md_fix *fix, const md_model *model, int64_t step, md_box_move *move)
{
  md_box next = model->box;
  for (int part = 3; part < DEFORM_PARTS; ++part) {
    if (deform_way_of(fix, part) == DEFORM_NONE) continue;
    move->tilt[part - 3] = md_round_to(deform_tilt(fix, model, part, step), model->grids.x);
    if (fix->k[1] == DEFORM_REMAP_X) move->sheared |= md_group_bit(fix->group);
  }
  if (fix->k[DEFORM_FLIP] == 0.0 || !next.triclinic) return;
  /* The yz above counts all its flips, and each changes xz. The present xz has some of them, that of the beginning has
   * none. */
  if (deform_way_of(fix, 3 + MD_YZ) != DEFORM_NONE && deform_way_of(fix, 3 + MD_XZ) == DEFORM_NONE &&
      move->tilt[MD_XZ] == model->box.tilt[MD_XZ])
    move->tilt[MD_XZ] = fix->state[DEFORM_BOX + 6 + MD_XZ];
  for (int d = 0; d < 3; ++d) next.length[d] = move->hi[d] - move->lo[d];
  md_box_set_tilt(&next, move->tilt);
  memcpy(move->tilt, next.offset, sizeof move->tilt);
}

/* Is the box a shear at given rates? Then it is a function of the step alone, and steps can be undone. */
static bool deform_undoes(const md_fix *fix)
{
  for (int part = 0; part < DEFORM_PARTS; ++part) {
    const deform_way way = deform_way_of(fix, part);
    if (way != DEFORM_NONE && (part < 3 || (way != DEFORM_ERATE && way != DEFORM_VEL && way != DEFORM_TRATE)))
      return false;
  }
  return true;
}

/* The tilt factors that the fix has made by the end of a step. */
static void deformed_by(const md_fix *fix, const md_model *model, int64_t step, md_box_move *move)
{
  const int64_t every = (int64_t)fix->k[0], due = step - step % every;
  if ((double)due > fix->state[DEFORM_FROM]) {
    deform_shear(fix, model, due, move);
    return;
  }
  memcpy(move->tilt, fix->state + 7, sizeof move->tilt);
  if (fix->k[1] == DEFORM_REMAP_X) move->sheared |= md_group_bit(fix->group);
}

/* The step at which the last run began that is not undone; INT64_MAX: it is not known. */
static int64_t deform_began(const md_fix *fix)
{
  const int n = (int)fix->state[DEFORM_RUNS];
  return n > 0 ? (int64_t)fix->state[DEFORM_BEGAN + n - 1] : INT64_MAX;
}

/* The box of a step: after it, or where its forces are found, which is that after the step before, but for the first
 * step of a run. */
static void deform_box_at(const md_fix *fix, const md_model *model, int64_t step, bool after,
                          md_box_move *move)
{
  deformed_by(fix, model, after || step == deform_began(fix) ? step : step - 1, move);
}

/* A run begins at the present step. */
static void deform_note_run(md_fix *fix, const md_model *model)
{
  double *began = fix->state + DEFORM_BEGAN;
  int n = (int)fix->state[DEFORM_RUNS];
  if (model->move.pending || deform_began(fix) == model->step)
    return; /* a run goes on, or began there before */
  if (n == DEFORM_RUNS_MAX) memmove(began, began + 1, (size_t)--n * sizeof *began);
  began[n] = (double)model->step;
  fix->state[DEFORM_RUNS] = n + 1;
}

/* Is the box the one that the fix has made? Then one function of the step goes through all runs. */
static bool deform_continues(const md_fix *fix, const md_model *model)
{
  const md_box *box = &model->box;
  md_box_move move = {.pending = false};
  if (fix->state[0] != 1.0 || !deform_undoes(fix) || fix->state[DEFORM_RUNS] == 0.0) return false;
  if ((double)model->step < fix->state[DEFORM_FROM] || model->step % (int64_t)fix->k[0] != 0) return false;
  memcpy(move.lo, box->lo, sizeof move.lo);
  memcpy(move.hi, box->hi, sizeof move.hi);
  memcpy(move.tilt, fix->state + 7, sizeof move.tilt);
  deformed_by(fix, model, model->step, &move);
  return memcmp(move.tilt, box->tilt, sizeof move.tilt) == 0 &&
         memcmp(box->lo, fix->state + 1, sizeof box->lo) == 0 &&
         memcmp(box->hi, fix->state + 4, sizeof box->hi) == 0;
}

static void deform_begin(md_fix *fix, const md_model *model, bool goes_on)
{
  const size_t bytes = DEFORM_BOX_NUMBERS * sizeof *fix->state;
  double *box = fix->state + DEFORM_BOX, *first_box = fix->state + DEFORM_FIRST_BOX;
  const bool first = fix->state[0] == 0.0, begins = model->step == model->run_begin;
  const bool same_beginning = fix->state[DEFORM_FROM] == (double)model->run_begin;
  if (model->backwards) return;
  if ((!first && (goes_on || (!begins && same_beginning))) || (begins && deform_continues(fix, model))) {
    if (fix->state[DEFORM_RUNS] > 0.0) deform_note_run(fix, model);
    return;
  }
  memset(fix->state + DEFORM_RUNS, 0, (DEFORM_FIRST_BOX - DEFORM_RUNS) * sizeof *fix->state);
  fix->state[0] = 1.0;
  fix->state[DEFORM_FROM] = (double)model->run_begin;
  for (int d = 0; d < 3; ++d) {
    box[d] = model->box.lo[d];
    box[3 + d] = model->box.hi[d];
    box[6 + d] = model->box.tilt[d];
  }
  if (first) memcpy(first_box, box, bytes);
  if (!begins) memcpy(box, first_box, bytes);
  if (begins && deform_undoes(fix)) deform_note_run(fix, model);
}

/* A run back begins, to step `last`. One that has returned to where a run began goes on with the run before. */
static md_status deform_begin_back(md_fix *fix, const md_model *model, int64_t last)
{
  const int n = (int)fix->state[DEFORM_RUNS];
  if (n > 1 && deform_began(fix) == model->step) fix->state[DEFORM_RUNS] = n - 1;
  const int64_t began = deform_began(fix);
  if (began == INT64_MAX)
    return md_error(MD_USAGE, "run back: fix deform does not know the box of earlier steps; it knows those "
                              "of runs with this fix and without the keyword start");
  if (last >= began) return MD_OK;
  if (fix->state[DEFORM_RUNS] > 1.0 && model->step > began)
    return md_error(MD_USAGE,
                    "run back: with fix deform one run at a time goes back; the last one began at step %lld: "
                    "give run -%lld first",
                    (long long)began, (long long)(model->step - began));
  return md_error(MD_USAGE,
                  "run back: fix deform began at step %lld, and does not know the box before that step",
                  (long long)began);
}

static md_status deform_move_box(md_fix *fix, const md_model *model, bool before, const double *value,
                                 md_box_move *move)
{
  (void)before;
  (void)value;
  double ratio = 1.0; /* of the lengths of axes that change by themselves, then to now */
  for (int d = 0; d < 3; ++d) {
    const deform_way way = deform_way_of(fix, d);
    if (way == DEFORM_NONE) continue;
    move->carried[d] = fix->k[1] == DEFORM_REMAP_X ? md_group_bit(fix->group) : 0;
    if (way == DEFORM_VOLUME) continue;
    deform_target(fix, model, d, &move->lo[d], &move->hi[d]);
    ratio *= (fix->state[4 + d] - fix->state[1 + d]) / (move->hi[d] - move->lo[d]);
  }
  if (deform_count(fix, true) == 2) ratio = sqrt(ratio);
  for (int d = 0; d < 3; ++d) {
    if (deform_way_of(fix, d) != DEFORM_VOLUME) continue;
    const double lo0 = fix->state[1 + d], hi0 = fix->state[4 + d];
    move->lo[d] = 0.5 * (lo0 + hi0) - 0.5 * ratio * (hi0 - lo0);
    move->hi[d] = 0.5 * (lo0 + hi0) + 0.5 * ratio * (hi0 - lo0);
  }
  deform_shear(fix, model, model->step, move);
  return MD_OK;
}

static const md_fix_style deform_style = {
    .name = "deform",
    .usage = "deform N x|y|z|xy|xz|yz STYLE ... [remap x|v|none] [flip yes|no] [units box|lattice]",
    .help =
        "changes the box after every N-th step; STYLE of a side is final LO HI, delta DLO DHI, scale F,\n"
        "vel V, erate R, trate R, wiggle A TP or volume, of a tilt factor final V, delta V, vel V, erate R,\n"
        "trate R or wiggle A TP; lengths are in lattice units unless units box is given. remap x: particles "
        "of the\n"
        "group go with the box; v: their velocities change by that of the faces that they go through;\n"
        "flip yes: a tilt factor beyond half a side becomes one within it",
    .forgets =
        "the places of particles are rounded in each new box, unless tilt factors alone change, by erate, "
        "trate or vel",
    .parse = deform_parse,
    .join = deform_join,
    .every = deform_every,
    .measures = MD_COMPUTE_KINDS,
    .changes = deform_changes,
    .shears = deform_shears,
    .flow = deform_flow,
    .move_box = deform_move_box,
    .begin = deform_begin,
    .undoes = deform_undoes,
    .begin_back = deform_begin_back,
    .box_at = deform_box_at,
    .nstate = DEFORM_STATE,
};

#endif
