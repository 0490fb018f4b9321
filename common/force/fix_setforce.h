/* fix setforce: gives components of the force on each particle a value. With 0 0 0 and velocities of 0 particles stay
 * where they are. Reference: the LAMMPS manual, fix setforce.
 *
 * Numbers of the fix and of its action, for axis d: k[2 d] is 1 if the component is set, 0 for NULL; k[2 d + 1] the
 * force.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(setforce, "setforce")

#elif defined MD_FIX_FORCE

MD_FIX_FORCE(setforce)

#elif defined MD_FIX_HOST

static md_status setforce_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  const md_words force = {3, words->word};
  MD_TRY(read_region(fix, words, scope));
  return parse_components(fix, &force, scope);
}

static const md_fix_style setforce_style = {
    .name = "setforce",
    .usage = "setforce FX FY FZ [region ID]",
    .help =
        "gives the force on each particle these components; NULL leaves a component as it is. 0 0 0, with\n"
        "velocities of 0, holds particles. f_ID[1] to f_ID[3]: the force on the group before that.\n"
        "A component may be v_NAME. region: on particles that are in it at the time",
    .reversible = true,
    .parse = setforce_parse,
    .join = join_force,
    .prepare_force = copy_numbers,
    .usual_force = size_of_components,
    .takes_region = true,
    .vector = MD_VECTOR_BEFORE,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_setforce_post_force(const md_force_action *a, const md_particle *p, md_net_force *n)
{
  (void)p;
  for (int d = 0; d < 3; ++d)
    if (a->k[2 * d] != 0.0) md_net_force_set(n, d, a->k[2 * d + 1]);
}

#endif
