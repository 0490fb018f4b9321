/* fix lineforce: keeps of the force on each particle only the component along a line, f -> (f n) n. Particles that move
 * along the line then stay on it. Reference: the LAMMPS manual, fix lineforce.
 *
 * Numbers of the fix and of its action: k0 to k2 the direction n, of length 1.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(lineforce, "lineforce")

#elif defined MD_FIX_FORCE

MD_FIX_FORCE(lineforce)

#elif defined MD_FIX_HOST

static md_status lineforce_parse(md_fix *fix, const md_words *words, const md_fix_scope *scope)
{
  (void)scope;
  return parse_direction(fix, words);
}

static const md_fix_style lineforce_style = {
    .name = "lineforce",
    .usage = "lineforce X Y Z",
    .help = "leaves of the force on each particle only the component along the direction X Y Z",
    .reversible = true,
    .parse = lineforce_parse,
    .join = join_force,
    .prepare_force = copy_numbers,
    .usual_force = no_force,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_lineforce_post_force(const md_force_action *a, const md_particle *p, md_net_force *n)
{
  (void)p;
  const double along = n->f[0] * a->k[0] + n->f[1] * a->k[1] + n->f[2] * a->k[2];
  for (int d = 0; d < 3; ++d) md_net_force_put(n, d, along * a->k[d]);
}

#endif
