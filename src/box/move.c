/* The last change of the box in a run; see move.h. */
#include "src/box/move.h"
#include "common/step/step.h"

void md_box_move_end(md_sim *sim)
{
  md_model *model = &sim->model;
  md_particles *p = &sim->particles;
  if (!model->move.pending) return;
  const md_step step = md_step_of(model);
  md_model_take_box(model);
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    double x[3] = {0.0, 0.0, 0.0};
    for (int d = 0; d < p->dim; ++d) x[d] = p->x[d][i];
    md_step_carry_point(&step, p->group ? p->group[i] : MD_GROUP_ALL, x);
    md_box_wrap(&model->box, x);
    for (int d = 0; d < p->dim; ++d) p->x[d][i] = x[d];
  }
}
