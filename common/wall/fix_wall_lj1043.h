/* fix wall/lj1043: walls of layers of Lennard-Jones particles, the fcc (100) face,
 *
 *   U(r) = 2 pi eps [2/5 (sigma/r)^10 - (sigma/r)^4 - sqrt(2)/3 sigma^3 / (r + 0.61/sqrt(2) sigma)^3]
 *
 * minus its value at the cutoff.
 *
 * Numbers of an action after those of a wall (wall.h): k4 4/5 pi eps sigma^10, k5 2 pi eps sigma^4,
 * k6 2 pi sqrt(2)/3 eps sigma^3, k7 0.61/sqrt(2) sigma, k8 U at the cutoff.
 * Reference: Steele, Surf. Sci. 36 (1973) 317; Magda, Tirrell and Davis, J. Chem. Phys. 83 (1985) 1888.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(wall_lj1043, "wall/lj1043")

#elif defined MD_FIX_FORCE

MD_FIX_FORCE(wall_lj1043)

#elif defined MD_FIX_HOST

static void wall_lj1043_potential(double epsilon, double sigma, double cutoff, double *k)
{
  const double two_pi = 6.28318530717958647693, root2 = sqrt(2.0);
  const double s2 = sigma * sigma, s4 = s2 * s2, inverse2 = 1.0 / (cutoff * cutoff),
               inverse4 = inverse2 * inverse2;
  k[0] = two_pi * 2.0 / 5.0 * epsilon * s4 * s4 * s2;
  k[1] = two_pi * epsilon * s4;
  k[2] = two_pi * root2 / 3.0 * epsilon * s2 * sigma;
  k[3] = 0.61 / root2 * sigma;
  const double deep = cutoff + k[3];
  k[4] = (k[0] * inverse4 * inverse2 - k[1]) * inverse4 - k[2] / (deep * deep * deep);
}

static md_status wall_lj1043_prepare(const md_fix *fix, const md_model *model, md_force_action *action,
                                     int *count)
{
  return md_wall_prepare(fix, model, wall_lj1043_potential, action, count);
}

static const md_fix_style wall_lj1043_style = {
    .name = "wall/lj1043",
    .usage = "wall/lj1043 FACE PLACE EPSILON SIGMA CUTOFF ... [units box|lattice]",
    .help = "walls U = 2 pi EPSILON [2/5 (SIGMA/r)^10 - (SIGMA/r)^4 -\n"
            "sqrt(2)/3 SIGMA^3/(r + 0.61/sqrt(2) SIGMA)^3], cut and shifted; otherwise as wall/lj93",
    .needs_box = true,
    .conserves_energy = true,
    .reversible = true,
    .parse = md_wall_parse,
    .join = md_wall_join,
    .prepare_force = wall_lj1043_prepare,
    .usual_force = md_wall_usual_force,
    .vector = MD_VECTOR_WALLS,
    .has_energy = true,
};

#elif defined MD_FIX_FORMULAS

/* -dU/dr and U at distance r. k: the numbers of the potential. */
MD_FN void md_wall_lj1043_value(const double *k, double cutoff, double r, double *force, double *energy)
{
  (void)cutoff;
  const double inverse = 1.0 / r, inverse2 = inverse * inverse, inverse4 = inverse2 * inverse2;
  const double deep = 1.0 / (r + k[3]), deep3 = deep * deep * deep;
  *force = (10.0 * k[0] * inverse4 * inverse2 - 4.0 * k[1]) * inverse4 * inverse - 3.0 * k[2] * deep3 * deep;
  *energy = (k[0] * inverse4 * inverse2 - k[1]) * inverse4 - k[2] * deep3 - k[4];
}

MD_FN void md_wall_lj1043_post_force(const md_force_action *a, const md_particle *p, md_net_force *n)
{
  double r, force, energy;
  if (!md_wall_reaches(a, p, n, &r)) return;
  md_wall_lj1043_value(a->k + MD_WALL_POTENTIAL, a->k[3], r, &force, &energy);
  md_wall_push(a, n, force, energy);
}

#endif
