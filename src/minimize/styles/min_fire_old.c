/* min_style fire/old: the fast inertial relaxation engine as it was published, with fixed parameters.
 *
 * v.f > 0: v turns towards the forces, v = (1 - alpha) v + alpha |v| f/|f|; after more than 5 such steps dt grows and
 * alpha shrinks. Else v = 0, dt is halved, alpha begins anew. Then x += dt v, v += dt f/m, where dmax limits dt.
 *
 * Cost: an evaluation an iteration; one vector.
 * Reference: Bitzek, Koskinen, Gaehler, Moseler and Gumbsch, Phys. Rev. Lett. 97 (2006) 170201.
 */
#include "src/minimize/styles/damped.h"

enum { DELAY = 5 };
#define DT_GROW 1.1
#define DT_SHRINK 0.5
#define ALPHA_START 0.1
#define ALPHA_SHRINK 0.99
#define DT_MOST 10.0 /* in timesteps of the deck */

typedef struct fire {
  double dt, alpha;
  int64_t last_uphill;
} fire;

static void turn(md_minimizer *m, const md_damped_sums *sums, fire *s)
{
  const int64_t step = m->sim->model.step;
  if (sums->vf > 0.0) {
    md_damped_mix(m, 1.0 - s->alpha, md_damped_along(sums, s->alpha, 0.0));
    if (step - s->last_uphill <= DELAY) return;
    s->dt = md_min(s->dt * DT_GROW, DT_MOST * m->sim->model.dt);
    s->alpha *= ALPHA_SHRINK;
  } else {
    md_damped_mix(m, 0.0, 0.0);
    *s = (fire){s->dt * DT_SHRINK, ALPHA_START, step};
  }
}

static md_status iterate(md_minimizer *m)
{
  fire s = {m->sim->model.dt, ALPHA_START, m->sim->model.step};
  while (md_minimizer_next(m)) {
    md_damped_sums sums;
    double dt;
    MD_TRY(md_damped_products(m, &sums));
    turn(m, &sums, &s);
    MD_TRY(md_damped_limit(m, s.dt, &dt));
    MD_TRY(md_damped_drift(m, dt, dt));
    MD_TRY(md_damped_test(m, s.last_uphill, DELAY));
    if (m->stop == MD_MIN_GOES_ON) MD_TRY(md_minimizer_show(m));
  }
  return MD_OK;
}

const md_min_style md_min_fire_old = {.name = "fire/old", .dynamics = true, .nvector = 1, .iterate = iterate};
