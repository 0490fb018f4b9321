/* min_style cg: conjugate gradients, in the form of Polak and Ribiere.
 *
 * u_0 = f_0;  x_1 = x_0 + alpha u_0 by a line search;  u_1 = f_1 + beta u_0,  beta = max(0, (f_1 - f_0).f_1 / f_0.f_0)
 *
 * Begins anew, with beta 0, after three times as many iterations as there are particles, and where u would not lead
 * downhill.
 * Cost: a line search an iteration, usually two evaluations; two vectors.
 * References: Polak and Ribiere, Rev. Fr. Inform. Rech. Oper. 16 (1969) 35; Shewchuk, An Introduction to the Conjugate
 * Gradient Method Without the Agonizing Pain (1994).
 */
#include "src/minimize/line_search.h"

/* u = f + beta u, g = f. */
static void turn(md_minimizer *m, double beta)
{
  const md_particles *p = &m->sim->particles;
  for (int d = 0; d < p->dim; ++d) {
    double *u = m->vector[MD_MIN_U].x[d], *g = m->vector[MD_MIN_G].x[d];
    const double *f = m->force.x[d];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; ++i) {
      g[i] = f[i];
      u[i] = beta == 0.0 ? f[i] : f[i] + beta * u[i];
    }
  }
  for (int d = 0; d < 3; ++d) {
    double *u = &m->vector[MD_MIN_U].box[d];
    *u = m->force.box[d] + beta * *u;
    m->vector[MD_MIN_G].box[d] = m->force.box[d];
  }
}

/* The next direction. *ff: f.f at the beginning of the iteration, and then at its end. */
static md_status next_direction(md_minimizer *m, double *ff)
{
  const md_min_vector *f = &m->force, *g = &m->vector[MD_MIN_G];
  double dot[2], slope;
  MD_TRY(md_minimizer_products(m, 2, (md_min_product[]){{f, f}, {f, g}}, dot));
  const bool anew = (m->iterations + 1) % (3 * m->sim->model.natoms) == 0;
  turn(m, anew ? 0.0 : md_max(0.0, (dot[0] - dot[1]) / *ff));
  *ff = dot[0];
  MD_TRY(md_minimizer_products(m, 1, &(md_min_product){f, &m->vector[MD_MIN_U]}, &slope));
  if (slope <= 0.0) turn(m, 0.0);
  return MD_OK;
}

static md_status iterate(md_minimizer *m)
{
  double ff;
  turn(m, 0.0);
  MD_TRY(md_minimizer_norm(m, MD_NORM_TWO, &ff));
  while (md_minimizer_next(m)) {
    m->energy_before = m->energy;
    MD_TRY(md_line_search(m));
    MD_TRY(md_line_search_test(m));
    if (m->stop != MD_MIN_GOES_ON) break;
    MD_TRY(next_direction(m, &ff));
    MD_TRY(md_minimizer_show(m));
  }
  return MD_OK;
}

const md_min_style md_min_cg = {.name = "cg", .nvector = 2, .iterate = iterate};
