/* The last change of the box in a run; see move.h. */
#include "src/box/move.h"
#include "common/step/step.h"

void md_box_move_end(md_sim *sim)
{
  md_model *model = &sim->model;
  md_particles *p = &sim->particles;
  if (!model->move.pending) return;
  const md_step step = md_step_of(model);
  const bool undoes = model->move.undoes;
  md_model_take_box(model);
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    double x[3] = {0.0, 0.0, 0.0};
    for (int d = 0; d < p->dim; ++d) x[d] = p->x[d][i];
    const uint32_t group = p->group ? p->group[i] : MD_GROUP_ALL;
    if (undoes)
      md_step_uncarry(&step, group, x);
    else
      md_step_carry_point(&step, group, x);
    md_box_wrap(&model->box, x);
    for (int d = 0; d < p->dim; ++d) p->x[d][i] = x[d];
  }
}

void md_box_move_back(md_sim *sim)
{
  md_model *model = &sim->model;
  if (!model->backwards || !md_fixes_undo_shear(model)) return;
  md_fixes_shear_to(model, model->step, false);
  md_box_move_end(sim);
  md_fixes_shear_to(model, model->step, true);
}
