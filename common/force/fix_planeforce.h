/* fix planeforce: removes from the force on each particle the component along the normal of a plane, f -> f - (f n) n.
 * Particles that move in the plane then stay in it. Reference: the LAMMPS manual, fix planeforce.
 *
 * Numbers of the fix and of its action: k0 to k2 the normal n, of length 1.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(planeforce, "planeforce")

#elif defined MD_FIX_FORCE

MD_FIX_FORCE(planeforce)

#elif defined MD_FIX_HOST

static md_status planeforce_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  (void)scope;
  return parse_direction(fix, words);
}

static const md_fix_style planeforce_style = {
    .name = "planeforce",
    .usage = "planeforce X Y Z",
    .help = "removes from the force on each particle the component along the normal X Y Z of a plane",
    .reversible = true,
    .parse = planeforce_parse,
    .join = join_force,
    .prepare_force = copy_numbers,
    .usual_force = no_force,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_planeforce_post_force(const md_force_action *a, const md_particle *p, md_net_force *n)
{
  (void)p;
  const double along = n->f[0] * a->k[0] + n->f[1] * a->k[1] + n->f[2] * a->k[2];
  for (int d = 0; d < 3; ++d) md_net_force_put(n, d, n->f[d] - along * a->k[d]);
}

#endif
