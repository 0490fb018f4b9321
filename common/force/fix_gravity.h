/* fix gravity: a constant acceleration g. The force on a particle is m g, its energy U = -m g x.
 *
 * The directions of chute and spherical come from sine and cosine of the C library, when the deck is read.
 *
 * In other units than lj the deck gives a force per mass, as in LAMMPS. Reference: the LAMMPS manual, fix gravity.
 *
 * Numbers of the fix: k0 to k2 the force per mass of the deck. Of its action: the acceleration.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(gravity_field, "gravity")

#elif defined MD_FIX_FORCE

MD_FIX_FORCE(gravity_field)

#elif defined MD_FIX_HOST

/* The direction with these angles, in degrees: phi from x towards y, theta from z. In two dimensions theta is from y
 * towards x, as in LAMMPS. */
static void direction_of_angles(double phi, double theta, int dim, double direction[3])
{
  const double degree = 3.14159265358979323846 / 180.0;
  const double across = sin(degree * theta), along = cos(degree * theta);
  direction[0] = dim == 3 ? across * cos(degree * phi) : across;
  direction[1] = dim == 3 ? across * sin(degree * phi) : along;
  direction[2] = dim == 3 ? along : 0.0;
}

static md_status gravity_direction(const md_fix *fix, const md_words *words, int dim, double direction[3])
{
  const char *style = words->word[1];
  const int n = strcmp(style, "chute") == 0       ? 1
                : strcmp(style, "spherical") == 0 ? 2
                : strcmp(style, "vector") == 0    ? 3
                                                  : 0;
  if (n == 0)
    return md_error(
        MD_USAGE,
        "fix gravity: unknown direction '%.64s'; accepted are chute ANGLE, spherical PHI THETA and "
        "vector X Y Z",
        style);
  MD_TRY(md_fix_takes(fix, words, 2 + n));
  double value[3] = {0.0};
  for (int k = 0; k < n; ++k) MD_TRY(parse_component(fix, words->word[2 + k], &value[k]));
  if (n == 3) {
    memcpy(direction, value, sizeof value);
    if (dim == 2) direction[2] = 0.0;
    return normalise_direction(fix, direction);
  }
  direction_of_angles(n == 2 ? value[0] : 0.0, n == 2 ? value[1] : 180.0 - value[0], dim, direction);
  return MD_OK;
}

static md_status gravity_field_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  double magnitude, direction[3];
  if (words->n < 2)
    return md_error(MD_USAGE, "fix gravity takes MAGNITUDE and a direction, such as vector 0 0 -1");
  MD_TRY(parse_component(fix, words->word[0], &magnitude));
  MD_TRY(gravity_direction(fix, words, scope->box->dim, direction));
  for (int d = 0; d < 3; ++d) fix->k[d] = magnitude * direction[d];
  return MD_OK;
}

static md_status gravity_field_prepare(const md_fix *fix, const md_model *model, md_force_action *action,
                                       int *count)
{
  (void)count;
  for (int d = 0; d < 3; ++d) action->k[d] = fix->k[d] / model->units->mvv2e;
  return MD_OK;
}

static double gravity_field_usual(const md_fix *fix, const md_model *model, double mass)
{
  return size_of_force(fix, model, mass) * mass / model->units->mvv2e;
}

static bool gravity_field_needs_image(const md_fix *fix, int axis) { return fix->k[axis] != 0.0; }

static const md_fix_style gravity_field_style = {
    .name = "gravity",
    .usage = "gravity MAGNITUDE chute ANGLE|spherical PHI THETA|vector X Y Z",
    .help =
        "a constant acceleration along X Y Z; chute: in the plane of x and z, ANGLE degrees from -z to x;\n"
        "spherical: THETA degrees from z, PHI from x. f_ID: its energy, -m g x, where no axis along g is\n"
        "periodic",
    .conserves_energy = true,
    .reversible = true,
    .parse = gravity_field_parse,
    .join = join_force,
    .prepare_force = gravity_field_prepare,
    .usual_force = gravity_field_usual,
    .not_minimized = true,
    .has_energy = true,
    .energy_needs_image = gravity_field_needs_image,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_gravity_field_post_force(const md_force_action *a, const md_particle *p, md_net_force *n)
{
  for (int d = 0; d < 3; ++d) {
    md_net_force_add(n, d, p->mass * a->k[d]);
    n->energy -= p->mass * a->k[d] * p->x[d];
  }
}

#endif
