/* fix wall/lj126: walls with the potential of a Lennard-Jones particle in them, U(r) = 4 eps [(sigma/r)^12 -
 * (sigma/r)^6] minus its value at the cutoff. Reference: the LAMMPS manual, fix wall/lj126.
 *
 * Numbers of an action after those of a wall (wall.h): k4 4 eps sigma^12, k5 4 eps sigma^6, k6 U at the cutoff.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(wall_lj126, "wall/lj126")

#elif defined MD_FIX_FORCE

MD_FIX_FORCE(wall_lj126)

#elif defined MD_FIX_HOST

static void wall_lj126_potential(double epsilon, double sigma, double cutoff, double *k)
{
  const double s3 = sigma * sigma * sigma, s6 = s3 * s3, inverse = 1.0 / cutoff;
  const double inverse3 = inverse * inverse * inverse, inverse6 = inverse3 * inverse3;
  k[0] = 4.0 * epsilon * s6 * s6;
  k[1] = 4.0 * epsilon * s6;
  k[2] = (k[0] * inverse6 - k[1]) * inverse6;
}

static md_status wall_lj126_prepare(const md_fix *fix, const md_model *model, md_force_action *action,
                                    int *count)
{
  return md_wall_prepare(fix, model, wall_lj126_potential, action, count);
}

static const md_fix_style wall_lj126_style = {
    .name = "wall/lj126",
    .usage = "wall/lj126 FACE PLACE EPSILON SIGMA CUTOFF ... [units box|lattice]",
    .help = "walls U = 4 EPSILON [(SIGMA/r)^12 - (SIGMA/r)^6], cut and shifted; otherwise as wall/lj93",
    .needs_box = true,
    .conserves_energy = true,
    .reversible = true,
    .parse = md_wall_parse,
    .join = md_wall_join,
    .prepare_force = wall_lj126_prepare,
    .usual_force = md_wall_usual_force,
    .vector = MD_VECTOR_WALLS,
    .has_energy = true,
};

#elif defined MD_FIX_FORMULAS

/* -dU/dr and U at distance r. k: the numbers of the potential. */
MD_FN void md_wall_lj126_value(const double *k, double cutoff, double r, double *force, double *energy)
{
  (void)cutoff;
  const double inverse = 1.0 / r, inverse3 = inverse * inverse * inverse, inverse6 = inverse3 * inverse3;
  *force = (12.0 * k[0] * inverse6 - 6.0 * k[1]) * inverse6 * inverse;
  *energy = (k[0] * inverse6 - k[1]) * inverse6 - k[2];
}

MD_FN void md_wall_lj126_post_force(const md_force_action *a, const md_particle *p, md_net_force *n)
{
  double r, force, energy;
  if (!md_wall_reaches(a, p, n, &r)) return;
  md_wall_lj126_value(a->k + MD_WALL_POTENTIAL, a->k[3], r, &force, &energy);
  md_wall_push(a, n, force, energy);
}

#endif
