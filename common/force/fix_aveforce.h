/* fix aveforce: gives all particles of a group the mean of their forces, plus a force. So the group moves like one body
 * that cannot turn, if its velocities are equal.
 *
 * Numbers of the fix: for axis d, k[2 d] is 1 if the component is averaged, 0 for NULL, and k[2 d + 1] the force that
 * is added. Of its action: the same, and k6 to k8 the mean, in the unit of the net force, after each sum over the
 * group (forces.h).
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(aveforce, "aveforce")

#elif defined MD_FIX_FORCE

MD_FIX_FORCE(aveforce)

#elif defined MD_FIX_HOST

static const md_fix_style aveforce_style = {
    .name = "aveforce",
    .usage = "aveforce FX FY FZ",
    .help =
        "gives each particle the mean force of the group plus this force; NULL leaves a component as it is.\n"
        "The forces are summed over all ranks in each step. f_ID[1] to f_ID[3]: the force on the group\n"
        "before that. A component may be v_NAME",
    .reversible = true,
    .parse = parse_components,
    .join = join_force,
    .prepare_force = copy_numbers,
    .usual_force = size_of_components,
    .takes_mean = true,
    .vector = MD_VECTOR_BEFORE,
};

#elif defined MD_FIX_FORMULAS

MD_FN void md_aveforce_post_force(const md_force_action *a, const md_particle *p, md_net_force *n)
{
  (void)p;
  for (int d = 0; d < 3; ++d)
    if (a->k[2 * d] != 0.0) {
      md_net_force_set(n, d, a->k[2 * d + 1]);
      md_net_force_put(n, d, n->f[d] + a->k[MD_FORCE_MEAN + d]);
    }
}

#endif
