/* fix wall/harmonic: walls that push with a spring, U(r) = eps (r - cutoff)^2 for r < cutoff.
 *
 * Numbers of an action after those of a wall (wall.h): k4 eps. SIGMA has no effect, as in the LAMMPS manual.
 */
#if defined MD_FIX_STYLE

MD_FIX_STYLE(wall_harmonic, "wall/harmonic")

#elif defined MD_FIX_FORCE

MD_FIX_FORCE(wall_harmonic)

#elif defined MD_FIX_HOST

static void wall_harmonic_potential(double epsilon, double sigma, double cutoff, double *k)
{
  (void)sigma;
  (void)cutoff;
  k[0] = epsilon;
}

static md_status wall_harmonic_prepare(const md_fix *fix, const md_model *model, md_force_action *action,
                                       int *count)
{
  return md_wall_prepare(fix, model, wall_harmonic_potential, action, count);
}

static double wall_harmonic_at_half_cutoff(const double *wall) { return wall[2] * wall[4]; }

static double wall_harmonic_usual(const md_fix *fix, const md_model *model, double mass)
{
  (void)model;
  (void)mass;
  return md_wall_largest(fix, wall_harmonic_at_half_cutoff);
}

static const md_fix_style wall_harmonic_style = {
    .name = "wall/harmonic",
    .usage = "wall/harmonic FACE PLACE EPSILON SIGMA CUTOFF ... [units box|lattice]",
    .help = "walls U = EPSILON (r - CUTOFF)^2 below CUTOFF; SIGMA has no effect; otherwise as wall/lj93",
    .needs_box = true,
    .conserves_energy = true,
    .reversible = true,
    .parse = md_wall_parse,
    .join = md_wall_join,
    .prepare_force = wall_harmonic_prepare,
    .usual_force = wall_harmonic_usual,
    .vector = MD_VECTOR_WALLS,
    .has_energy = true,
};

#elif defined MD_FIX_FORMULAS

/* -dU/dr and U at distance r. k: the numbers of the potential. */
MD_FN void md_wall_harmonic_value(const double *k, double cutoff, double r, double *force, double *energy)
{
  const double deep = cutoff - r;
  *force = 2.0 * k[0] * deep;
  *energy = k[0] * deep * deep;
}

MD_FN void md_wall_harmonic_post_force(const md_force_action *a, const md_particle *p, md_net_force *n)
{
  double r, force, energy;
  if (!md_wall_reaches(a, p, n, &r)) return;
  md_wall_harmonic_value(a->k + MD_WALL_POTENTIAL, a->k[3], r, &force, &energy);
  md_wall_push(a, n, force, energy);
}

#endif
