/* Passes and sums of damped dynamics; see damped.h. */
#include "src/minimize/styles/damped.h"

md_status md_damped_products(const md_minimizer *m, md_damped_sums *sums)
{
  const md_min_vector *v = &m->vector[MD_MIN_U], *f = &m->force;
  double dot[3];
  MD_TRY(md_minimizer_products(m, 3, (md_min_product[]){{v, f}, {v, v}, {f, f}}, dot));
  *sums = (md_damped_sums){dot[0], dot[1], dot[2]};
  return MD_OK;
}

void md_damped_mix(md_minimizer *m, double a, double b)
{
  const md_particles *p = &m->sim->particles;
  for (int d = 0; d < p->dim; ++d) {
    double *v = m->vector[MD_MIN_U].x[d];
    const double *f = m->force.x[d];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; ++i) v[i] = a * v[i] + b * f[i];
  }
}

double md_damped_along(const md_damped_sums *sums, double alpha, double least)
{
  return sums->ff <= least ? 0.0 : alpha * sqrt(sums->vv / sums->ff);
}

md_status md_damped_limit(const md_minimizer *m, double dt, double *limited)
{
  double fastest;
  MD_TRY(md_minimizer_largest(m, &m->vector[MD_MIN_U], &fastest));
  *limited = dt * fastest > m->set->dmax ? m->set->dmax / fastest : dt;
  return MD_OK;
}

md_status md_damped_drift(md_minimizer *m, double t, double kick)
{
  m->energy_before = m->energy;
  MD_TRY(md_minimizer_move(m, 0.0, t, kick));
  ++m->evaluations;
  return MD_OK;
}

md_status md_damped_test(md_minimizer *m, int64_t last_uphill, int64_t delay)
{
  if (m->sim->model.step - last_uphill > delay && md_minimizer_energy_is_steady(m)) m->stop = MD_MIN_ETOL;
  return m->stop == MD_MIN_GOES_ON ? md_minimizer_test_forces(m) : MD_OK;
}
