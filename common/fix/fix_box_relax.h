/* fix box/relax: in minimisations the sides of the box change too, towards those at which the pressure of the pairs has
 * a given value. It does nothing in runs.
 *
 * The minimiser (src/minimize/relax.h) asks `relax` what the fix says, and keeps in the state what f_ID is: the energy
 * of the volume and of the strain.
 *
 * References: Parrinello and Rahman, J. Appl. Phys. 52 (1981) 7182; the LAMMPS manual.
 *
 * Numbers of the fix: k7 to k16 as of fix npt, with the pressure of an axis in place of PSTART, and PDAMP 1 for an axis
 * that changes; k17 nreset; k18 vmax; k19 is 1 if only the group goes with the box; k20 is 1 with a fixed point, k[21 +
 * d]. State: the energy.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(box_relax, "box/relax")

#elif defined MD_FIX_HOST

enum { RELAX_RESET = 17, RELAX_MOST, RELAX_PARTIAL, RELAX_POINTED, RELAX_POINT };

/* Reads the pressure of the axes from `first` on, before `last`. */
static md_status box_relax_target(md_fix *fix, const char *value, int first, int last)
{
  double target;
  MD_TRY(md_word_double(value, "the pressure of fix box/relax", &target));
  for (int d = first; d < last; ++d) {
    if (baro_moves(fix, d))
      return md_error(MD_USAGE,
                      "fix box/relax: the axis %c has a pressure already; give one pressure for each axis",
                      'x' + d);
    fix->k[BARO_START + d] = target;
    fix->k[BARO_DAMP + d] = 1.0;
  }
  return MD_OK;
}

static md_status box_relax_couple(md_fix *fix, const char *value)
{
  static const char *const couples[] = {"none", "xyz", "xy", "yz", "xz"};
  for (int c = 0; c < 5; ++c)
    if (strcmp(value, couples[c]) == 0) {
      fix->k[BARO_COUPLE] = c;
      return MD_OK;
    }
  return md_error(MD_USAGE, "fix box/relax couple '%.64s' is unknown; accepted are none, xyz, xy, yz, xz",
                  value);
}

static md_status box_relax_dilate(md_fix *fix, const char *value)
{
  if (strcmp(value, "all") != 0 && strcmp(value, "partial") != 0)
    return md_error(MD_USAGE, "fix box/relax dilate '%.64s' is unknown; accepted are all, partial", value);
  fix->k[RELAX_PARTIAL] = value[0] == 'p';
  return MD_OK;
}

/* Reads the keyword with its values, as many as the caller has counted. */
static md_status box_relax_keyword(md_fix *fix, const char *keyword, char *const *value, int dim)
{
  const bool iso = strcmp(keyword, "iso") == 0;
  if (keyword[0] >= 'x' && keyword[0] <= 'z' && keyword[1] == '\0') {
    const int axis = keyword[0] - 'x';
    if (axis >= dim) return md_error(MD_USAGE, "fix box/relax: two dimensions have no pressure along z");
    return box_relax_target(fix, value[0], axis, axis + 1);
  }
  if (iso) fix->k[BARO_COUPLE] = BARO_XYZ;
  if (iso || strcmp(keyword, "aniso") == 0) return box_relax_target(fix, value[0], 0, dim);
  if (strcmp(keyword, "couple") == 0) return box_relax_couple(fix, value[0]);
  if (strcmp(keyword, "vmax") == 0)
    return md_word_positive(value[0], "vmax of fix box/relax", &fix->k[RELAX_MOST]);
  if (strcmp(keyword, "dilate") == 0) return box_relax_dilate(fix, value[0]);
  if (strcmp(keyword, "fixedpoint") == 0) {
    fix->k[RELAX_POINTED] = 1.0;
    for (int d = 0; d < 3; ++d)
      MD_TRY(md_word_double(value[d], "the fixed point of fix box/relax", &fix->k[RELAX_POINT + d]));
    return MD_OK;
  }
  int64_t every;
  MD_TRY(md_word_int64(value[0], "nreset of fix box/relax", 0, INT32_MAX, &every));
  fix->k[RELAX_RESET] = (double)every;
  return MD_OK;
}

static md_status box_relax_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  static const char *const accepted[] = {"iso",    "aniso", "x",      "y",          "z",
                                         "couple", "vmax",  "dilate", "fixedpoint", "nreset"};
  enum { N = sizeof accepted / sizeof accepted[0] };
  fix->k[RELAX_MOST] = 1e-4;
  for (int w = 0; w < words->n;) {
    const char *keyword = words->word[w];
    int k = 0;
    while (k < N && strcmp(keyword, accepted[k]) != 0) ++k;
    if (k == N)
      return md_error(
          MD_USAGE,
          "fix box/relax: unknown keyword '%.64s'; accepted are iso, aniso, x, y, z, couple, vmax, "
          "dilate, fixedpoint, nreset; tilt factors are not relaxed",
          keyword);
    const int takes = strcmp(keyword, "fixedpoint") == 0 ? 3 : 1;
    if (w + takes >= words->n)
      return md_error(MD_USAGE, "fix box/relax: %s needs %s", keyword, takes == 3 ? "X Y Z" : "a value");
    MD_TRY(box_relax_keyword(fix, keyword, words->word + w + 1, scope->box->dim));
    w += 1 + takes;
  }
  if (baro_axes(fix) == 0)
    return md_error(MD_USAGE, "fix box/relax needs a pressure: iso P, aniso P, x P, y P or z P");
  return baro_check(fix, scope->box->dim);
}

static md_status box_relax_join(const md_fix *fix, md_model *model)
{
  if (!(fix->k[RELAX_MOST] > 0.0 && fix->k[RELAX_RESET] >= 0.0 && fix->k[RELAX_RESET] <= INT32_MAX))
    return md_error(MD_USAGE, "fix box/relax: vmax must be positive, and nreset from 0 to %d", INT32_MAX);
  return baro_check(fix, model->box.dim);
}

static void box_relax_relax(const md_fix *fix, md_relax *relax)
{
  *relax = (md_relax){.every = (int64_t)fix->k[RELAX_RESET],
                      .most = fix->k[RELAX_MOST],
                      .carried = fix->k[RELAX_PARTIAL] != 0.0 ? md_group_bit(fix->group) : MD_GROUP_ALL,
                      .pointed = fix->k[RELAX_POINTED] != 0.0};
  for (int d = 0; d < 3; ++d) {
    relax->target[d] = fix->k[BARO_START + d];
    relax->point[d] = fix->k[RELAX_POINT + d];
    relax->moves[d] = baro_moves(fix, d);
    relax->coupled[d] = baro_moves(fix, d) && baro_coupled(fix, d);
  }
}

static double box_relax_scalar(const md_fix *fix) { return fix->state[0]; }

static const md_fix_style box_relax_style = {
    .name = "box/relax",
    .usage = "box/relax iso|aniso|x|y|z P ... [couple none|xyz|xy|yz|xz] [vmax FRACTION] [nreset N] [dilate "
             "all|partial] [fixedpoint X Y Z]",
    .help = "in minimize, with min_style cg or sd, changes the box too, so that the pressure of the pairs\n"
            "goes to P; vmax (0.0001) is the largest change of a side in an iteration; nreset: energy and\n"
            "strain count from the box of every N-th iteration; f_ID is the energy of volume and strain",
    .note = "it changes the box in minimize, and not in runs",
    .needs_box = true,
    .conserves_momentum = true,
    .conserves_energy = true,
    .reversible = true,
    .parse = box_relax_parse,
    .join = box_relax_join,
    .changes = baro_changes,
    .relax = box_relax_relax,
    .nstate = 1,
    .scalar = box_relax_scalar,
    .extensive = true,
};

#endif
