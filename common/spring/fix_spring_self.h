/* fix spring/self: ties each particle to the place where it was when the fix began, with the energy K r^2/2.
 *
 * A particle has its anchor with it, as a field (common/particle_fields.def). The nearest image counts, so that a
 * particle may go less than half a periodic side away from its anchor; one that goes 7/16 of it is an error. The axes
 * of the keyword alone count.
 *
 * Numbers of the fix: k0 K, k1 to k3 1 if the axis counts. State: 0 the anchors of its group are set. Of its action: k0
 * to k2 K or 0, k3 to k11 the box (common/force/net_force.h). Reference: the LAMMPS manual, fix spring/self.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(spring_self, "spring/self")

#elif defined MD_FIX_FORCE

MD_FIX_FORCE(spring_self)

#elif defined MD_FIX_HOST

static md_status spring_self_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  static const char *const accepted[] = {"xyz", "xy", "xz", "yz", "x", "y", "z"};
  const char *axes = words->n > 1 ? words->word[1] : "xyz";
  int a = 0;
  if (words->n == 0 || words->n > 2) MD_TRY(md_fix_takes(fix, words, words->n == 0 ? 1 : 2));
  MD_TRY(parse_component(fix, words->word[0], &fix->k[0]));
  while (a < 7 && strcmp(axes, accepted[a]) != 0) ++a;
  if (a == 7)
    return md_error(MD_USAGE, "fix spring/self: '%.64s' is none of xyz, xy, xz, yz, x, y and z", axes);
  for (int d = 0; d < scope->box->dim; ++d) fix->k[1 + d] = strchr(axes, "xyz"[d]) != NULL;
  return MD_OK;
}

static md_status spring_self_join(const md_fix *fix, md_model *model)
{
  (void)model;
  bool good = true;
  if (!(fix->k[0] > 0.0)) return md_error(MD_USAGE, "fix spring/self: K must be positive");
  for (int d = 0; d < 3; ++d) good = good && (fix->k[1 + d] == 0.0 || fix->k[1 + d] == 1.0);
  return good ? MD_OK : md_error(MD_USAGE, "fix spring/self: its numbers are not valid");
}

static md_status spring_self_prepare(const md_fix *fix, const md_model *model, md_force_action *action,
                                     int *count)
{
  (void)count;
  for (int d = 0; d < 3; ++d) action->k[d] = fix->k[0] * fix->k[1 + d];
  return fill_force_box(fix, model, action->k + 3);
}

static const md_fix_style spring_self_style = {
    .name = "spring/self",
    .usage = "spring/self K [xyz|xy|xz|yz|x|y|z]",
    .help =
        "ties each particle to the place where it was when the fix was defined, by a spring with the energy\n"
        "K r^2/2, r being the distance along these axes. It must stay below half of a periodic side. f_ID:\n"
        "energy",
    .needs_box = true,
    .conserves_energy = true,
    .reversible = true,
    .parse = spring_self_parse,
    .join = spring_self_join,
    .prepare_force = spring_self_prepare,
    .anchors = true,
    .has_energy = true,
    .nstate = 1,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_spring_self_post_force(const md_force_action *a, const md_particle *p, md_net_force *n)
{
  const double *length = a->k + 6;
  double delta[3];
  if (!n->anchor) {
    n->beyond = true;
    return;
  }
  md_force_nearest(a->k + 3, p->x, n->anchor, delta);
  for (int d = 0; d < 3; ++d) {
    if (a->k[d] == 0.0) continue;
    if (!(fabs(delta[d]) < (length[d] > 0.0 ? MD_TIE_MOST * length[d] : (double)INFINITY))) {
      n->beyond = true;
      return;
    }
    md_net_force_add(n, d, -a->k[d] * delta[d]);
    n->energy = fma(0.5 * a->k[d] * delta[d], delta[d], n->energy);
  }
}

#endif
