/* fix wall/region: the surface of a region is a wall, which pushes the particles in the region with the potential of
 * wall/lj93, lj126, lj1043 or harmonic, at the distance r from it.
 *
 * A block and a cylinder seen from within have several faces, each a wall of its own; from outside there is one nearest
 * point (common/force/shape.h). A particle on the surface, or not in the region, is an error, as in LAMMPS.
 *
 * Numbers of the fix: from k0 on those of the shape, k9 place of the potential in wall_region_potentials, k10 epsilon,
 * k11 sigma, k12 cutoff. Of its action: the shape and the box of md_shape_wrap, k21 potential, k22 cutoff, from k23
 * on the numbers of the potential.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(wall_region, "wall/region")

#elif defined MD_FIX_FORCE

MD_FIX_FORCE(wall_region)

#elif defined MD_FIX_HOST

static const struct {
  const char *name;
  md_wall_potential numbers;
} wall_region_potentials[] = {
    {"lj93", wall_lj93_potential},
    {"lj126", wall_lj126_potential},
    {"lj1043", wall_lj1043_potential},
    {"harmonic", wall_harmonic_potential},
};

static md_status wall_region_find(md_fix *fix, const md_fix_scope *scope)
{
  return scope->shape(scope->context, fix->region, fix->k);
}

static md_status wall_region_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  int style = 0;
  MD_TRY(md_fix_takes(fix, words, 5));
  MD_TRY(md_fix_take_region(fix, words->word[0], scope));
  while (style < 4 && strcmp(words->word[1], wall_region_potentials[style].name) != 0) ++style;
  if (style == 4)
    return md_error(
        MD_USAGE,
        "fix wall/region: the potential '%.64s' is not available; accepted are lj93, lj126, lj1043 "
        "and harmonic",
        words->word[1]);
  fix->k[9] = style;
  MD_TRY(md_word_double(words->word[2], "epsilon of fix wall/region", &fix->k[10]));
  MD_TRY(md_word_positive(words->word[3], "sigma of fix wall/region", &fix->k[11]));
  return md_word_positive(words->word[4], "the cutoff of fix wall/region", &fix->k[12]);
}

static md_status wall_region_join(const md_fix *fix, md_model *model)
{
  (void)model;
  const double *k = fix->k;
  if (k[SHAPE_KIND] >= SHAPE_BLOCK && k[SHAPE_KIND] <= SHAPE_PLANE && k[9] >= 0.0 && k[9] <= 3.0 &&
      k[11] > 0.0 && k[12] > 0.0)
    return MD_OK;
  return md_error(MD_USAGE, "fix wall/region: its numbers are not valid");
}

static md_status wall_region_prepare(const md_fix *fix, const md_model *model, md_force_action *action,
                                     int *count)
{
  (void)count;
  memcpy(action->k, fix->k, SHAPE_K * sizeof *fix->k);
  MD_TRY(md_fix_settle_shape(fix, model, action->k + SHAPE_K));
  action->k[21] = fix->k[9];
  action->k[22] = fix->k[12];
  wall_region_potentials[(int)fix->k[9]].numbers(fix->k[10], fix->k[11], fix->k[12], action->k + 23);
  return MD_OK;
}

static const md_fix_style wall_region_style = {
    .name = "wall/region",
    .usage = "wall/region REGION lj93|lj126|lj1043|harmonic EPSILON SIGMA CUTOFF",
    .help = "the surface of a region (block, sphere, cylinder or plane) is a wall for the particles in it, "
            "with the\n"
            "potential of wall/lj93 and so on. f_ID: energy; f_ID[1] to f_ID[3]: force on the wall",
    .needs_box = true,
    .conserves_energy = true,
    .reversible = true,
    .parse = wall_region_parse,
    .find_region = wall_region_find,
    .join = wall_region_join,
    .prepare_force = wall_region_prepare,
    .vector = MD_VECTOR_REACTION,
    .has_energy = true,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_wall_region_value(const double *k, double r, double *force, double *energy)
{
  if (k[21] == 0.0) md_wall_lj93_value(k + 23, k[22], r, force, energy);
  if (k[21] == 1.0) md_wall_lj126_value(k + 23, k[22], r, force, energy);
  if (k[21] == 2.0) md_wall_lj1043_value(k + 23, k[22], r, force, energy);
  if (k[21] == 3.0) md_wall_harmonic_value(k + 23, k[22], r, force, energy);
}

MD_FN void md_wall_region_post_force(const md_force_action *a, const md_particle *p, md_net_force *n)
{
  double x[3] = {p->x[0], p->x[1], p->x[2]};
  md_contact contact[SHAPE_CONTACTS];
  md_shape_wrap(a->k + SHAPE_K, x);
  if (!md_shape_contains(a->k, x)) {
    n->beyond = true;
    return;
  }
  const int count = md_shape_contacts(a->k, x, a->k[22], contact);
  for (int c = 0; c < count; ++c) {
    double force = 0.0, energy = 0.0;
    if (!(contact[c].r > 0.0)) {
      n->beyond = true;
      return;
    }
    md_wall_region_value(a->k, contact[c].r, &force, &energy);
    for (int d = 0; d < 3; ++d) md_net_force_add(n, d, force * (contact[c].delta[d] / contact[c].r));
    n->energy += energy;
  }
}

#endif
