/* Damped dynamics: what the styles fire, fire/old and quickmin share. The velocity v is m->vector[MD_MIN_U]. */
#ifndef MD_SRC_MINIMIZE_STYLES_DAMPED_H
#define MD_SRC_MINIMIZE_STYLES_DAMPED_H

#include "src/minimize/minimizer.h"

/* Sums over particles. */
typedef struct md_damped_sums {
  double vf, vv, ff;
} md_damped_sums;
md_status md_damped_products(const md_minimizer *m, md_damped_sums *sums) MD_CHECKED;

/* v = a v + b f. */
void md_damped_mix(md_minimizer *m, double a, double b);

/* The factor b for which b f has alpha times the length of v; 0 where f.f is not above `least`. */
double md_damped_along(const md_damped_sums *sums, double alpha, double least);

/* *limited: the timestep, shortened so that no component of dt v is above dmax. Collective. */
md_status md_damped_limit(const md_minimizer *m, double dt, double *limited) MD_CHECKED;

/* The drift of an iteration: x += t v, and then v += (kick/mass) f with the forces before; energy and forces at the new
 * places. Collective. */
md_status md_damped_drift(md_minimizer *m, double t, double kick) MD_CHECKED;

/* Sets m->stop if a tolerance is reached: that of the energy only if more than `delay` steps have passed since
 * `last_uphill`, the last step with v.f uphill. Collective. */
md_status md_damped_test(md_minimizer *m, int64_t last_uphill, int64_t delay) MD_CHECKED;

#endif
