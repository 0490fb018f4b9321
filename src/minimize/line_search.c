/* Line searches of LAMMPS: from x along u, to x + alpha u, where E is lower.
 *
 *   fu  the slope f.u downhill, and E the energy, both per particle if thermo_modify norm says so
 *   alpha_max  moves no component by more than dmax, and the box by no more than vmax of fix box/relax
 *
 *   backtrack  alpha = alpha_max; halves it until E has fallen by 0.4 of what the slope promises
 *   quadratic  the same; but where E follows a parabola within a tenth, goes to the zero of its slope, by a secant
 *   forcezero  goes on from a small alpha to the zero of the slope, by secants, with no increase of E
 *
 * Trade-off: backtrack needs no slopes after the first; quadratic, the default, gets the forces closer to zero,
 * because a slope near zero is known more exactly than a difference of energies.
 * Cost: an evaluation for each alpha.
 * References: Nocedal and Wright, Numerical Optimization, procedure 3.1; Dennis and Schnabel, Numerical Methods for
 * Unconstrained Optimization; the manual of LAMMPS, min_modify.
 */
#include "src/minimize/line_search.h"
#include "src/minimize/relax.h"

/* Constants of LAMMPS. */
#define ALPHA_MOST 1.0
#define ALPHA_REDUCE 0.5
#define BACKTRACK_SLOPE 0.4
#define QUADRATIC_TOLERANCE 0.1
#define QUADRATIC_LEAST 1e-28
#define ENERGY_ERROR 1e-8
#define ZERO_ENERGY 1e-12 /* of forcezero: the most that the energy may rise */
#define SLOPE_FRACTION 0.1
#define LEAST_MOVE 1e-14
#define BOOST_MOST 4.0

typedef struct search {
  double energy, slope;       /* at the start */
  double largest, alpha_most; /* the largest component of u; the largest alpha */
} search;

/* The slope f.u at the present places. */
static md_status find_slope(const md_minimizer *m, double *slope)
{
  MD_TRY(md_minimizer_products(m, 1, &(md_min_product){&m->force, &m->vector[MD_MIN_U]}, slope));
  if (md_thermo_is_normed(m->sim)) *slope /= (double)m->sim->model.natoms;
  return MD_OK;
}

/* m->stop stays MD_MIN_GOES_ON if there is something to search. */
static md_status begin(md_minimizer *m, search *s)
{
  s->energy = m->energy;
  MD_TRY(find_slope(m, &s->slope));
  MD_TRY(md_minimizer_largest(m, &m->vector[MD_MIN_U], &s->largest));
  if (!(s->slope > 0.0))
    m->stop = MD_MIN_NOT_DOWNHILL;
  else if (s->largest == 0.0 && !m->relax.on)
    m->stop = MD_MIN_ZERO_FORCE;
  s->alpha_most = md_min(m->set->dmax / s->largest, md_min_relax_most(m));
  if (m->set->line != MD_LINE_FORCEZERO) s->alpha_most = md_min(ALPHA_MOST, s->alpha_most);
  return MD_OK;
}

/* Goes to start + alpha u; *at is where the particles are. */
static md_status step_to(md_minimizer *m, double *at, double alpha)
{
  MD_TRY(md_minimizer_move(m, *at, alpha, 0.0));
  ++m->evaluations;
  *at = alpha;
  return MD_OK;
}

static md_status give_up(md_minimizer *m, double *at, md_min_stop why)
{
  MD_TRY(step_to(m, at, 0.0));
  m->stop = why;
  return MD_OK;
}

static md_status backtrack(md_minimizer *m, const search *s)
{
  double at = 0.0;
  for (m->alpha = s->alpha_most;;) {
    MD_TRY(step_to(m, &at, m->alpha));
    const double wanted = -BACKTRACK_SLOPE * m->alpha * s->slope, change = m->energy - s->energy;
    if (change <= wanted) return MD_OK;
    m->alpha *= ALPHA_REDUCE;
    if (m->alpha <= 0.0 || wanted >= -ENERGY_ERROR)
      return give_up(m, &at, change < 0.0 ? MD_MIN_ETOL : MD_MIN_ZERO_ALPHA);
  }
}

/* The state of the search before. */
typedef struct before {
  double alpha, energy, slope;
} before;

/* Goes to the zero of the slope where the last two states lie on a parabola. *done: the energy did not rise. */
static md_status project(md_minimizer *m, const search *s, const before *b, double slope, double *at,
                         bool *done)
{
  const double step = m->alpha - b->alpha;
  const double error = fabs(1.0 - (0.5 * step * (slope + b->slope) + m->energy) / b->energy);
  const double alpha = m->alpha - step * slope / (slope - b->slope);
  *done = false;
  if (!(error <= QUADRATIC_TOLERANCE && alpha > 0.0 && alpha < s->alpha_most)) return MD_OK;
  MD_TRY(step_to(m, at, alpha));
  *done = m->energy - s->energy < ENERGY_ERROR;
  return MD_OK;
}

static md_status quadratic(md_minimizer *m, const search *s)
{
  before b = {0.0, s->energy, s->slope};
  double at = 0.0;
  for (m->alpha = s->alpha_most;;) {
    double slope;
    bool done;
    MD_TRY(step_to(m, &at, m->alpha));
    MD_TRY(find_slope(m, &slope));
    if (fabs(slope) < QUADRATIC_LEAST || fabs(slope - b.slope) < QUADRATIC_LEAST)
      return give_up(m, &at, MD_MIN_ZERO_QUADRATIC);
    MD_TRY(project(m, s, &b, slope, &at, &done));
    const double wanted = -BACKTRACK_SLOPE * m->alpha * s->slope;
    if (done || m->energy - s->energy <= wanted) return MD_OK;
    b = (before){m->alpha, m->energy, slope};
    m->alpha *= ALPHA_REDUCE;
    if (m->alpha <= 0.0 || wanted >= -ENERGY_ERROR) return give_up(m, &at, MD_MIN_ZERO_ALPHA);
  }
}

/* The next step of forcezero, by a line through the last two slopes, but not much longer than the last step. */
static double next_step(double step, double slope_before, double slope)
{
  double longer = BOOST_MOST;
  if (slope_before > slope) longer = md_min(slope / (slope_before - slope), BOOST_MOST);
  return step * longer;
}

static md_status forcezero(md_minimizer *m, const search *s)
{
  before b = {0.0, s->energy, s->slope};
  double at = 0.0, step = md_min(0.1 * fabs(s->energy) / s->slope, 0.5 * s->alpha_most);
  for (m->alpha = 0.0;;) {
    double slope;
    if (b.alpha + step > s->alpha_most) return MD_OK;
    m->alpha = b.alpha + step;
    MD_TRY(step_to(m, &at, m->alpha));
    MD_TRY(find_slope(m, &slope));
    const bool rises = m->energy - b.energy >= ZERO_ENERGY;
    if (!rises && fabs(slope / s->slope) <= SLOPE_FRACTION) return MD_OK;
    if (rises || slope < 0.0) {
      m->alpha = b.alpha;
      step *= slope < 0.0 ? b.slope / (b.slope - slope) : 0.1;
      if (s->largest * step <= LEAST_MOVE) return give_up(m, &at, MD_MIN_ZERO_ALPHA);
      continue;
    }
    step = next_step(step, b.slope, slope);
    b = (before){m->alpha, m->energy, slope};
  }
}

md_status md_line_search(md_minimizer *m)
{
  search s;
  m->alpha = 0.0;
  MD_TRY(begin(m, &s));
  if (m->stop != MD_MIN_GOES_ON) return MD_OK;
  if (m->set->line == MD_LINE_BACKTRACK)
    MD_TRY(backtrack(m, &s));
  else
    MD_TRY(m->set->line == MD_LINE_QUADRATIC ? quadratic(m, &s) : forcezero(m, &s));
  md_min_relax_reset(m);
  return MD_OK;
}

md_status md_line_search_test(md_minimizer *m)
{
  if (m->stop != MD_MIN_GOES_ON) return MD_OK;
  if (m->evaluations >= m->most_evaluations)
    m->stop = MD_MIN_MAXEVAL;
  else if (md_minimizer_energy_is_steady(m))
    m->stop = MD_MIN_ETOL;
  else
    return md_minimizer_test_forces(m);
  return MD_OK;
}
