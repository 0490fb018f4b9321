/* min_style quickmin: dynamics whose velocity keeps only its part along the forces.
 *
 * v = (v.f/f.f) f if v.f >= 0, else 0;  x += dt v;  v += dt f/m, where dt is the deck's timestep or what dmax allows.
 *
 * Cost: an evaluation an iteration; one vector.
 * Reference: Sheppard, Terrell and Henkelman, J. Chem. Phys. 128 (2008) 134106.
 */
#include "src/minimize/styles/damped.h"

enum { DELAY = 5 }; /* of LAMMPS */

static md_status iterate(md_minimizer *m)
{
  int64_t last_uphill = m->sim->model.step;
  while (md_minimizer_next(m)) {
    md_damped_sums sums;
    double dt;
    MD_TRY(md_damped_products(m, &sums));
    if (sums.vf < 0.0) last_uphill = m->sim->model.step;
    md_damped_mix(m, 0.0, sums.vf < 0.0 || sums.ff == 0.0 ? 0.0 : sums.vf / sums.ff);
    MD_TRY(md_damped_limit(m, m->sim->model.dt, &dt));
    MD_TRY(md_damped_drift(m, dt, dt));
    MD_TRY(md_damped_test(m, last_uphill, DELAY));
    if (m->stop == MD_MIN_GOES_ON) MD_TRY(md_minimizer_show(m));
  }
  return MD_OK;
}

const md_min_style md_min_quickmin = {.name = "quickmin", .dynamics = true, .nvector = 1, .iterate = iterate};
