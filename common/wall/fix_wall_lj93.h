/* fix wall/lj93: walls of a half space of Lennard-Jones particles, U(r) = eps [2/15 (sigma/r)^9 - (sigma/r)^3] minus
 * its value at the cutoff.
 *
 * Numbers of an action after those of a wall (wall.h): k4 2/15 eps sigma^9, k5 eps sigma^3, k6 U at the cutoff.
 * Reference: Magda, Tirrell and Davis, J. Chem. Phys. 83 (1985) 1888.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(wall_lj93, "wall/lj93")

#elif defined MD_FIX_FORCE

MD_FIX_FORCE(wall_lj93)

#elif defined MD_FIX_HOST

static void wall_lj93_potential(double epsilon, double sigma, double cutoff, double *k)
{
  const double s3 = sigma * sigma * sigma, inverse = 1.0 / cutoff, inverse3 = inverse * inverse * inverse;
  k[0] = 2.0 / 15.0 * epsilon * s3 * s3 * s3;
  k[1] = epsilon * s3;
  k[2] = (k[0] * inverse3 * inverse3 - k[1]) * inverse3;
}

static md_status wall_lj93_prepare(const md_fix *fix, const md_model *model, md_force_action *action,
                                   int *count)
{
  return md_wall_prepare(fix, model, wall_lj93_potential, action, count);
}

static const md_fix_style wall_lj93_style = {
    .name = "wall/lj93",
    .usage = "wall/lj93 FACE PLACE EPSILON SIGMA CUTOFF ... [units box|lattice]",
    .help =
        "walls U = EPSILON [2/15 (SIGMA/r)^9 - (SIGMA/r)^3], cut and shifted; r is the distance from one.\n"
        "FACE: xlo xhi ylo yhi zlo zhi, on axes that are not periodic. PLACE: a position, in lattice units\n"
        "unless units box is given, or EDGE, the face of the box. PLACE, EPSILON and SIGMA may be v_NAME.\n"
        "f_ID: energy; f_ID[k]: force on wall k",
    .needs_box = true,
    .conserves_energy = true,
    .reversible = true,
    .parse = md_wall_parse,
    .join = md_wall_join,
    .prepare_force = wall_lj93_prepare,
    .usual_force = md_wall_usual_force,
    .vector = MD_VECTOR_WALLS,
    .has_energy = true,
};

#elif defined MD_FIX_FORMULAS

/* -dU/dr and U at distance r. k: the numbers of the potential. */
MD_FN void md_wall_lj93_value(const double *k, double cutoff, double r, double *force, double *energy)
{
  (void)cutoff;
  const double inverse = 1.0 / r, inverse3 = inverse * inverse * inverse, inverse6 = inverse3 * inverse3;
  *force = (9.0 * k[0] * inverse6 - 3.0 * k[1]) * inverse3 * inverse;
  *energy = (k[0] * inverse6 - k[1]) * inverse3 - k[2];
}

MD_FN void md_wall_lj93_post_force(const md_force_action *a, const md_particle *p, md_net_force *n)
{
  double r, force, energy;
  if (!md_wall_reaches(a, p, n, &r)) return;
  md_wall_lj93_value(a->k + MD_WALL_POTENTIAL, a->k[3], r, &force, &energy);
  md_wall_push(a, n, force, energy);
}

#endif
