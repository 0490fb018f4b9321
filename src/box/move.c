/* The last change of the box in a run; see move.h. */
#include "src/box/move.h"
#include "common/step/step.h"

void md_box_move_end(md_sim *sim)
{
  md_model *model = &sim->model;
  md_particles *p = &sim->particles;
  if (!model->move.pending) return;
  const md_step step = md_step_of(model);
  for (int d = 0; d < p->dim; ++d) {
    if (!step.periodic[d]) continue;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; ++i) {
      const double x = md_step_carry(&step, d, p->group ? p->group[i] : MD_GROUP_ALL, p->x[d][i]);
      p->x[d][i] = md_wrap(x, step.new_lo[d], step.new_hi[d], step.new_length[d]);
    }
  }
  md_model_take_box(model);
}
