/* fix indent: an indenter, a sphere, a cylinder or a half space that pushes particles out of itself, or with `side in`
 * into itself. A particle at depth s under the surface has the energy K s^3/3 and feels the force K s^2.
 *
 * Distances are those of the nearest image, as in LAMMPS. A half space has none, so that a plane needs an axis without
 * images, and a cylinder in a tilted box an axis whose images do not lie aside. The place is rounded to the grid of
 * positions, so that they are the same for every image of a particle.
 *
 * Numbers of the fix: k0 K, k1 shape (0 sphere, 1 cylinder, 2 plane), k2 axis of a cylinder or plane, k3 radius,
 * k4 1 for side in or for a plane that pushes down (hi), k5 to k7 the place. Of its action: the same, and from k8
 * on the numbers of md_force_nearest.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(indent, "indent")

#elif defined MD_FIX_FORCE

MD_FIX_FORCE(indent)

#elif defined MD_FIX_HOST

static const char *const indent_shape[] = {"sphere", "cylinder", "plane"};

static md_status indent_read_axis(const char *word, int axes, double *axis)
{
  const int last = "xyz"[axes - 1];
  if (word[0] >= 'x' && word[0] <= last && word[1] == '\0') {
    *axis = word[0] - 'x';
    return MD_OK;
  }
  return md_error(MD_USAGE, "fix indent: '%.64s' is none of the axes x to %c", word, last);
}

/* Reads the words after `sphere`: X Y Z R; `cylinder`: AXIS A B R; `plane`: AXIS PLACE lo|hi. */
static md_status indent_read_shape(md_fix *fix, char *const *word, const md_fix_scope *scope)
{
  double *k = fix->k, *at = k + 5;
  if (k[1] == 0.0) {
    for (int d = 0; d < 3; ++d) MD_TRY(parse_varied(fix, word[d], &at[d]));
    return md_fix_read_varied_positive(fix, word[3], "the radius of fix indent", &k[3]);
  }
  MD_TRY(indent_read_axis(word[0], k[1] == 1.0 ? 3 : scope->box->dim, &k[2]));
  const int axis = (int)k[2];
  if (k[1] == 1.0) {
    MD_TRY(parse_varied(fix, word[1], &at[axis == 0 ? 1 : 0]));
    MD_TRY(parse_varied(fix, word[2], &at[axis == 2 ? 1 : 2]));
    return md_fix_read_varied_positive(fix, word[3], "the radius of fix indent", &k[3]);
  }
  MD_TRY(parse_varied(fix, word[1], &at[axis]));
  k[4] = strcmp(word[2], "hi") == 0;
  if (scope->box->periodic[axis])
    return md_error(MD_USAGE, "fix indent plane: the box is periodic along %c; use boundary f there",
                    "xyz"[axis]);
  if (k[4] == 1.0 || strcmp(word[2], "lo") == 0) return MD_OK;
  return md_error(MD_USAGE, "fix indent plane: '%.64s' is neither lo nor hi", word[2]);
}

/* Reads the keyword at word *w with its values, and moves *w past them. */
static md_status indent_read(md_fix *fix, const md_words *words, int *w, const md_fix_scope *scope,
                             bool *shaped, bool *inside, bool *in_lattice)
{
  const char *keyword = words->word[*w];
  char *const *value = words->word + *w + 1;
  int shape = 0;
  while (shape < 3 && strcmp(keyword, indent_shape[shape]) != 0) ++shape;
  const bool side = strcmp(keyword, "side") == 0, units = strcmp(keyword, "units") == 0;
  if (shape == 3 && !side && !units)
    return md_error(
        MD_USAGE,
        "fix indent: unknown keyword '%.64s'; accepted are sphere X Y Z R, cylinder AXIS A B R, plane AXIS "
        "PLACE lo|hi, side in|out and units box|lattice",
        keyword);
  const int takes = side || units ? 1 : shape == 2 ? 3 : 4;
  if (*w + takes >= words->n) return md_error(MD_USAGE, "fix indent %s takes %d values", keyword, takes);
  *w += 1 + takes;
  if (units) return md_fix_read_units("indent", value[0], in_lattice);
  if (side) {
    *inside = strcmp(value[0], "in") == 0;
    if (*inside || strcmp(value[0], "out") == 0) return MD_OK;
    return md_error(MD_USAGE, "fix indent side: '%.64s' is neither in nor out", value[0]);
  }
  if (*shaped) return md_error(MD_USAGE, "fix indent: '%.64s' is a second shape", keyword);
  *shaped = true;
  fix->k[1] = shape;
  return indent_read_shape(fix, value, scope);
}

static md_status indent_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  bool shaped = false, inside = false, in_lattice = true;
  if (words->n == 0) return md_error(MD_USAGE, "fix indent takes K and a shape: sphere, cylinder or plane");
  MD_TRY(parse_component(fix, words->word[0], &fix->k[0]));
  for (int w = 1; w < words->n;) MD_TRY(indent_read(fix, words, &w, scope, &shaped, &inside, &in_lattice));
  if (!shaped) return md_error(MD_USAGE, "fix indent needs a shape: sphere, cylinder or plane");
  if (fix->k[1] != 2.0) fix->k[4] = inside;
  if (!in_lattice) return MD_OK;
  for (int d = 0; d < 3; ++d) fix->k[5 + d] *= scope->lattice[d];
  fix->k[3] *= scope->lattice[0];
  return MD_OK;
}

static md_status indent_join(const md_fix *fix, md_model *model)
{
  const double *k = fix->k;
  if ((k[1] == 0.0 || k[1] == 1.0 || k[1] == 2.0) && (k[4] == 0.0 || k[4] == 1.0) &&
      (k[1] == 0.0 || (k[2] >= 0.0 && k[2] < (k[1] == 1.0 ? 3 : model->box.dim) && k[2] == rint(k[2]))))
    return MD_OK;
  return md_error(MD_USAGE, "fix indent: its numbers are not valid");
}

static md_status indent_prepare(const md_fix *fix, const md_model *model, md_force_action *action, int *count)
{
  const int axis = (int)fix->k[2];
  bool counts[3] = {true, true, true};
  MD_TRY(copy_numbers(fix, model, action, count));
  for (int d = 0; d < model->box.dim; ++d)
    if (!model->float_drift) action->k[5 + d] = md_round_to(fix->k[5 + d], model->grids.x);
  MD_TRY(fill_force_box(fix, model, action->k + 8));
  if (fix->k[1] != 1.0) return MD_OK;
  counts[axis] = false;
  action->k[8 + 3 + axis] = 0.0;
  return check_slant(fix, model, counts);
}

static const md_fix_style indent_style = {
    .name = "indent",
    .usage = "indent K sphere X Y Z R|cylinder AXIS A B R|plane AXIS PLACE lo|hi [side in|out] [units "
             "box|lattice]",
    .help = "pushes particles out of an indenter, or with side in into it, with the force K s^2 at depth s.\n"
            "A and B: the coordinates of a cylinder's axis. plane lo: it pushes towards larger coordinates.\n"
            "Numbers are in lattice units unless units box is given, K is not. f_ID: energy; f_ID[1] to\n"
            "f_ID[3]: force on the indenter. Place and radius may be v_NAME, in box units",
    .needs_box = true,
    .conserves_energy = true,
    .reversible = true,
    .parse = indent_parse,
    .join = indent_join,
    .prepare_force = indent_prepare,
    .vector = MD_VECTOR_REACTION,
    .has_energy = true,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_indent_round(const md_force_action *a, const md_particle *p, md_net_force *n)
{
  double delta[3], r2 = 0.0;
  md_force_nearest(a->k + 8, p->x, a->k + 5, delta);
  for (int d = 0; d < 3; ++d) {
    if (a->k[1] == 1.0 && d == (int)a->k[2]) delta[d] = 0.0;
    r2 = fma(delta[d], delta[d], r2);
  }
  const double r = sqrt(r2), way = a->k[4] != 0.0 ? -1.0 : 1.0, depth = way * (a->k[3] - r);
  if (!(depth > 0.0)) return;
  if (r == 0.0) n->beyond = true;
  const double push = way * a->k[0] * depth * depth;
  for (int d = 0; d < 3 && r > 0.0; ++d) md_net_force_add(n, d, push * (delta[d] / r));
  n->energy = a->k[0] / 3.0 * depth * depth * depth;
}

MD_FN void md_indent_flat(const md_force_action *a, const md_particle *p, md_net_force *n)
{
  const int axis = (int)a->k[2];
  const double way = a->k[4] != 0.0 ? -1.0 : 1.0, depth = way * (a->k[5 + axis] - p->x[axis]);
  if (!(depth > 0.0)) return;
  md_net_force_add(n, axis, way * a->k[0] * depth * depth);
  n->energy = a->k[0] / 3.0 * depth * depth * depth;
}

MD_FN void md_indent_post_force(const md_force_action *a, const md_particle *p, md_net_force *n)
{
  if (a->k[1] == 2.0)
    md_indent_flat(a, p, n);
  else
    md_indent_round(a, p, n);
}

#endif
