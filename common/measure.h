/* The part of a measure (model.h) that comes from the motion of particles: kinetic energy and momentum, as exact sums.
 * For C; gpu/output/measure.cuh does the same on the device.
 */
#ifndef MD_COMMON_MEASURE_H
#define MD_COMMON_MEASURE_H

#include "common/model.h"
#include "common/motion.h"

/* Adds the kinetic energy and momentum of particle i to a measure. */
static inline void md_measure_particle(const md_model *model, const md_particles *p, int64_t i, md_measure *m)
{
  const double quantum = model->grids.v, v_step = model->v_step[p->type[i]];
  double v2 = 0.0;
  for (int d = 0; d < p->dim; ++d) {
    const int64_t low = p->wide ? p->v_low[d][i] : 0;
    const double v = md_momentum_value(p->v[d][i], low, quantum);
    v2 = fma(v, v, v2);
    md_wide_add(&m->momentum[d], md_momentum_count(p->v[d][i], low, quantum, v_step));
  }
  const double kinetic = md_kinetic(v2, model->velocity_per_v[p->type[i]], model->mass_reference);
  md_fine sum = {0, 0};
  md_fine_add(&sum, kinetic / (model->grids.k * MD_FINE));
  md_wide_add(&m->kinetic, md_fine_count(sum));
}

#endif
