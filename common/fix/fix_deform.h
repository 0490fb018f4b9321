/* fix deform: changes the faces of the box in a given way, and takes the particles of its group with them.
 *
 * Behind every N-th step of a run the faces of an axis become, with L0 the length and c the centre at the beginning of
 * the run, t the time since then and s the part of the run that is done:
 *
 *   final LO HI, delta DLO DHI, scale F, vel V, erate R
 *            the faces go linearly to LO and HI; DLO and DHI farther; F L0 apart; V t farther apart; L = L0 (1 + R t)
 *   trate R         L = L0 exp(R t)
 *   wiggle A TP     L = L0 + A sin(2 pi t/TP)
 *   volume          the volume stays as it was, while other axes change; two axes of this style share the change
 *
 * The centre c stays, but with final and delta. Particles go to the same fraction of the box (remap x), or stay where
 * they are (none). The change belongs to the next step (common/step/step.h), so that a step costs no more.
 * Reference: the LAMMPS manual, fix deform.
 *
 * Numbers of the fix: k0 N, k1 is 1 for remap x; of axis d: k[2 + 3 d] the style, and two numbers. State: 1 if a run is
 * under way, and the faces at its beginning.
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

enum { DEFORM_AXIS = 2, DEFORM_STATE = 7 };

static deform_way deform_way_of(const md_fix *fix, int d) { return (deform_way)fix->k[DEFORM_AXIS + 3 * d]; }

/* Reads what stands behind x, y or z at words->word[*w], and moves *w behind it. */
static md_status deform_axis(md_fix *fix, const md_words *words, int *w)
{
  const int d = words->word[*w][0] - 'x', first = *w + 1;
  int way = DEFORM_FINAL;
  if (first >= words->n) return md_error(MD_USAGE, "fix deform %c needs a style", 'x' + d);
  while (way < DEFORM_WAYS && strcmp(words->word[first], deform_ways[way].name) != 0) ++way;
  if (strcmp(words->word[first], "variable") == 0)
    return md_error(MD_USAGE,
                    "fix deform %c variable: formulas are not evaluated within steps; accepted are final, "
                    "delta, scale, vel, erate, trate, wiggle, volume",
                    'x' + d);
  if (way == DEFORM_WAYS)
    return md_error(
        MD_USAGE,
        "fix deform %c: unknown style '%.64s'; accepted are final LO HI, delta DLO DHI, scale F, vel V, "
        "erate R, trate R, wiggle A TP, volume",
        'x' + d, words->word[first]);
  if (first + deform_ways[way].values >= words->n)
    return md_error(MD_USAGE, "fix deform %c %s needs %d numbers", 'x' + d, deform_ways[way].name,
                    deform_ways[way].values);
  double *k = fix->k + DEFORM_AXIS + 3 * d;
  if (k[0] != 0.0) return md_error(MD_USAGE, "fix deform: the axis %c comes twice", 'x' + d);
  k[0] = way;
  for (int v = 0; v < deform_ways[way].values; ++v) {
    char what[48];
    snprintf(what, sizeof what, "a number of fix deform %c", 'x' + d);
    MD_TRY(md_word_double(words->word[first + 1 + v], what, &k[1 + v]));
  }
  *w = first + 1 + deform_ways[way].values;
  return MD_OK;
}

/* Reads a keyword and its value at words->word[*w]. */
static md_status deform_keyword(md_fix *fix, const md_words *words, int *w, bool *in_lattice)
{
  const char *keyword = words->word[*w];
  if (strcmp(keyword, "xy") == 0 || strcmp(keyword, "xz") == 0 || strcmp(keyword, "yz") == 0)
    return md_error(MD_USAGE, "fix deform %s: tilt factors are not available; accepted are x, y, z", keyword);
  const bool remap = strcmp(keyword, "remap") == 0, units = strcmp(keyword, "units") == 0;
  if (!remap && !units && strcmp(keyword, "flip") != 0)
    return md_error(MD_USAGE, "fix deform: unknown keyword '%.64s'; accepted are x, y, z, remap, units, flip",
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
  if (!remap) return md_word_bool(value, "fix deform flip", &flips);
  if (strcmp(value, "v") == 0)
    return md_error(MD_USAGE,
                    "fix deform remap v: velocities would change where particles cross a periodic face, and "
                    "engines move them across at different steps; accepted are remap x and remap none");
  if (strcmp(value, "x") != 0 && strcmp(value, "none") != 0)
    return md_error(MD_USAGE, "fix deform remap '%.64s' is unknown; accepted are x, none", value);
  fix->k[1] = value[0] == 'x';
  return MD_OK;
}

static md_status deform_parse(md_fix *fix, const md_words *words, const md_fix_place *place)
{
  int64_t every;
  bool in_lattice = true;
  if (words->n < 2)
    return md_error(MD_USAGE, "fix deform needs N, and axes with their styles, such as x erate 0.01");
  MD_TRY(md_word_int64(words->word[0], "N of fix deform", 1, INT64_C(1) << 53, &every));
  fix->k[0] = (double)every;
  fix->k[1] = 1.0;
  for (int w = 1; w < words->n;) {
    const char *word = words->word[w];
    const bool axis = word[0] >= 'x' && word[0] <= 'z' && word[1] == '\0';
    MD_TRY(axis ? deform_axis(fix, words, &w) : deform_keyword(fix, words, &w, &in_lattice));
  }
  for (int d = 0; d < 3 && in_lattice; ++d) {
    double *k = fix->k + DEFORM_AXIS + 3 * d;
    const bool both = k[0] == DEFORM_FINAL || k[0] == DEFORM_DELTA;
    if (deform_ways[(int)k[0]].length) k[1] *= place->lattice[d];
    if (both) k[2] *= place->lattice[d];
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

static md_status deform_join(const md_fix *fix, md_model *model)
{
  (void)model;
  bool good = fix->k[0] >= 1.0 && fix->k[0] <= 0x1p53;
  for (int d = 0; d < 3; ++d) {
    const double *k = fix->k + DEFORM_AXIS + 3 * d;
    good = good && k[0] >= 0.0 && k[0] < DEFORM_WAYS && k[0] == rint(k[0]);
    if (good && deform_way_of(fix, d) == DEFORM_WIGGLE && !(k[2] > 0.0))
      return md_error(MD_USAGE, "fix deform %c wiggle: the period must be positive", 'x' + d);
    if (good && deform_way_of(fix, d) == DEFORM_SCALE && !(k[1] > 0.0))
      return md_error(MD_USAGE, "fix deform %c scale: the factor must be positive", 'x' + d);
    if (good && deform_way_of(fix, d) == DEFORM_FINAL && !(k[2] > k[1]))
      return md_error(MD_USAGE, "fix deform %c final: the upper face must lie above the lower one", 'x' + d);
  }
  if (!good) return md_error(MD_USAGE, "fix deform: N must be at least 1, and styles those of the manual");
  if (deform_count(fix, true) > 0 && deform_count(fix, false) == 0)
    return md_error(MD_USAGE, "fix deform: with volume for one axis, another axis must have another style");
  return MD_OK;
}

static int64_t deform_every(const md_fix *fix) { return (int64_t)fix->k[0]; }

static void deform_changes(const md_fix *fix, const md_model *model, bool axis[3])
{
  (void)model;
  for (int d = 0; d < 3; ++d) axis[d] = axis[d] || deform_way_of(fix, d) != DEFORM_NONE;
}

static void deform_begin(md_fix *fix, const md_model *model)
{
  if (fix->state[0] == 1.0 && model->step != model->run_begin) return; /* the run goes on */
  fix->state[0] = 1.0;
  for (int d = 0; d < 3; ++d) {
    fix->state[1 + d] = model->box.lo[d];
    fix->state[4 + d] = model->box.hi[d];
  }
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

static md_status deform_move_box(md_fix *fix, const md_model *model, bool before, const double *value,
                                 md_box_move *move)
{
  (void)before;
  (void)value;
  double ratio = 1.0; /* of the lengths of axes that change by themselves, then to now */
  for (int d = 0; d < 3; ++d) {
    const deform_way way = deform_way_of(fix, d);
    if (way == DEFORM_NONE) continue;
    move->carried[d] = fix->k[1] != 0.0 ? md_group_bit(fix->group) : 0;
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
  return MD_OK;
}

static const md_fix_style deform_style = {
    .name = "deform",
    .usage = "deform N x|y|z STYLE ... [remap x|none] [units box|lattice]",
    .help =
        "changes the box behind every N-th step; STYLE is final LO HI, delta DLO DHI, scale F, vel V,\n"
        "erate R, trate R, wiggle A TP or volume; lengths are in lattice units unless units box is given;\n"
        "particles of the group go with the box unless remap none is given",
    .parse = deform_parse,
    .join = deform_join,
    .every = deform_every,
    .measures = MD_COMPUTE_KINDS,
    .changes = deform_changes,
    .move_box = deform_move_box,
    .begin = deform_begin,
    .nstate = DEFORM_STATE,
};

#endif
