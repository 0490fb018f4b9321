/* fix freeze: the force on each particle becomes 0, as with fix setforce 0 0 0. Particles whose velocities are 0 stay
 * where they are. In LAMMPS the fix is for granular particles, and also sets torques to 0.
 *
 * Numbers of the fix and of its action: none. Reference: the LAMMPS manual, fix freeze.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(freeze, "freeze")

#elif defined MD_FIX_FORCE

MD_FIX_FORCE(freeze)

#elif defined MD_FIX_HOST

static md_status freeze_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  (void)scope;
  return md_fix_takes(fix, words, 0);
}

static const md_fix_style freeze_style = {
    .name = "freeze",
    .usage = "freeze",
    .help =
        "the force on each particle becomes 0, as with setforce 0 0 0. f_ID[1] to f_ID[3]: the force on the\n"
        "group before that",
    .reversible = true,
    .parse = freeze_parse,
    .join = join_force,
    .prepare_force = copy_numbers,
    .usual_force = no_force,
    .vector = MD_VECTOR_BEFORE,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_freeze_post_force(const md_force_action *a, const md_particle *p, md_net_force *n)
{
  (void)a;
  (void)p;
  for (int d = 0; d < 3; ++d) md_net_force_set(n, d, 0.0);
}

#endif
