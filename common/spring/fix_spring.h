/* fix spring: a spring between the centre of mass of a group and a place (tether), or that of another group (couple).
 * At the distance r the energy is K (r - R0)^2/2. Each particle gets the part of the force that its mass is of that of
 * the group, so that the group turns and deforms freely.
 *
 * Places go on beyond periodic faces: see centre.h. So a group may lie anywhere in the box.
 *
 * Numbers of the fix: k0 K, k1 1 for couple, k2 the number of the other group; for axis d, k[3 + 2 d] is 1 if it
 * counts, 0 for NULL, and k[4 + 2 d] the place, or for couple the distance; k9 R0. Of its action: k0 to k2 the force
 * for a unit of mass, k3 and k4 the same of the energy and of the size of the force.
 * Reference: the LAMMPS manual, fix spring.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(spring, "spring")

#elif defined MD_FIX_FORCE

MD_FIX_FORCE(spring)

#elif defined MD_FIX_HOST

_Static_assert((int)MD_CENTRE_STATE <= (int)MD_FIX_STATE_MAX, "the state of fix spring");

enum { SPRING_COUPLES = 1, SPRING_OTHER = 2, SPRING_AXIS = 3, SPRING_R0 = 9 };

static md_status spring_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  const bool couples = words->n > 0 && strcmp(words->word[0], "couple") == 0;
  int group = 0;
  if (!couples && (words->n == 0 || strcmp(words->word[0], "tether") != 0))
    return md_error(MD_USAGE, "fix spring: '%.64s' is neither tether nor couple",
                    words->n > 0 ? words->word[0] : "");
  MD_TRY(md_fix_takes(fix, words, couples ? 7 : 6));
  if (couples) MD_TRY(scope->group(scope->context, words->word[1], &group));
  char *const *word = words->word + (couples ? 2 : 1);
  fix->k[SPRING_COUPLES] = couples;
  fix->k[SPRING_OTHER] = group;
  MD_TRY(parse_component(fix, word[0], &fix->k[0]));
  for (int d = 0; d < 3; ++d) {
    double *axis = &fix->k[SPRING_AXIS + 2 * d];
    axis[0] = strcmp(word[1 + d], "NULL") != 0;
    if (axis[0] != 0.0) MD_TRY(parse_component(fix, word[1 + d], &axis[1]));
  }
  if (scope->box->dim == 2 && fix->k[SPRING_AXIS + 5] != 0.0)
    return md_error(MD_USAGE, "fix spring: in two dimensions Z must be 0 or NULL");
  return parse_component(fix, word[4], &fix->k[SPRING_R0]);
}

static md_status spring_join(const md_fix *fix, md_model *model)
{
  const double *k = fix->k;
  bool good = k[0] >= 0.0 && k[SPRING_R0] >= 0.0;
  if (!good) return md_error(MD_USAGE, "fix spring: K and R0 must be 0 or positive");
  good = (k[SPRING_COUPLES] == 0.0 || k[SPRING_COUPLES] == 1.0) && k[SPRING_OTHER] >= 0.0 &&
         k[SPRING_OTHER] < model->groups.n && k[SPRING_OTHER] == rint(k[SPRING_OTHER]);
  return good ? MD_OK : md_error(MD_USAGE, "fix spring: its numbers are not valid");
}

/* Can the centres of mass be followed? */
static md_status spring_check(const md_fix *fix, const md_model *model)
{
  uint32_t groups = md_group_bit(fix->group);
  if (fix->k[SPRING_COUPLES] != 0.0) groups |= md_group_bit((int)fix->k[SPRING_OTHER]);
  for (int t = 0; t < 3; ++t)
    if (model->box.shears[t])
      return md_error(MD_USAGE, "fix spring: a fix that shears the box would move the centre of mass; use "
                                "only one of the two fixes");
  if (model->massed)
    return md_error(MD_USAGE, "fix spring needs masses by type: use atom_style atomic or bond");
  if (model->ntypes > MD_CENTRE_TYPES)
    return md_error(MD_USAGE, "fix spring: at most %d types of particles are accepted, not %d",
                    MD_CENTRE_TYPES, model->ntypes);
  if (model->integrator != MD_NVE && model->integrator != MD_STATIC)
    return md_fix_wants_verlet("fix", "spring");
  if (model->placed & groups)
    return md_error(MD_USAGE,
                    "fix spring: another fix, such as move or recenter, places particles of its group");
  return MD_OK;
}

static md_status spring_prepare(const md_fix *fix, const md_model *model, md_force_action *action, int *count)
{
  MD_TRY(spring_check(fix, model));
  if (fix->k[SPRING_COUPLES] == 0.0) return MD_OK;
  *count = 2;
  action[1].group = md_group_bit((int)fix->k[SPRING_OTHER]);
  return MD_OK;
}

/* centre: of the group, and for couple of the other one. */
static void spring_take_centres(const md_fix *fix, const double centre[][3], const double *mass,
                                md_force_action *action)
{
  const bool couples = fix->k[SPRING_COUPLES] != 0.0;
  double way[3], r2 = 0.0; /* from the group to where it is pulled */
  for (int d = 0; d < 3; ++d) {
    const double *axis = &fix->k[SPRING_AXIS + 2 * d];
    const double to = couples ? centre[1][d] - axis[1] : axis[1];
    way[d] = axis[0] != 0.0 ? to - centre[0][d] : 0.0;
    r2 = fma(way[d], way[d], r2);
  }
  const double r = sqrt(r2), stretch = r - fix->k[SPRING_R0], pull = fix->k[0] * stretch;
  for (int part = 0; part < (couples ? 2 : 1); ++part) {
    const double per_mass = mass[part] > 0.0 ? 1.0 / mass[part] : 0.0, sign = part == 0 ? 1.0 : -1.0;
    double *k = action[part].k;
    /* At the place itself no direction is that of the spring. */
    for (int d = 0; d < 3; ++d) k[d] = r > 0.0 ? sign * (pull * (way[d] / r)) * per_mass : 0.0;
    k[3] = 0.5 * pull * stretch * per_mass * (couples ? 0.5 : 1.0);
    k[4] = pull * per_mass;
  }
}

static const md_fix_style spring_style = {
    .name = "spring",
    .usage = "spring tether K X Y Z R0|couple GROUP K X Y Z R0",
    .help = "a spring from the centre of mass of the group to the place X Y Z, or to the centre of mass of\n"
            "GROUP less X Y Z, with the energy K (r - R0)^2/2 at the distance r. NULL: an axis that does\n"
            "not count. A particle that crosses a periodic face is followed, not wrapped. f_ID: energy;\n"
            "f_ID[1] to f_ID[3]: the force on the group; f_ID[4]: its size, negative if it pushes",
    .needs_box = true,
    .conserves_energy = true,
    .reversible = true,
    .parse = spring_parse,
    .join = spring_join,
    .prepare_force = spring_prepare,
    .take_centres = spring_take_centres,
    .vector = MD_VECTOR_SPRING,
    .has_energy = true,
    .nstate = MD_CENTRE_STATE,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_spring_post_force(const md_force_action *a, const md_particle *p, md_net_force *n)
{
  for (int d = 0; d < 3; ++d) md_net_force_add(n, d, a->k[d] * p->mass);
  n->energy = a->k[3] * p->mass;
  n->pull = a->k[4] * p->mass;
}

#endif
