/* Kicks, drifts and actions of all particles; see host_step.h. */
#include "common/step/host_step.h"
#include "common/faults.h"

void md_host_kick(const md_model *model, md_particles *p, int64_t *const impulse[3], int kicks, int threads)
{
  for (int d = 0; d < p->dim; ++d) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < p->n; ++i)
      if (md_step_moves(model->moving, p, i))
        md_step_kick_count(kicks * impulse[d][i], model->grids.v, md_inertia_of(model, p, i).v_step,
                           &p->v[d][i], p->wide ? &p->v_low[d][i] : NULL);
  }
}

/* box: that after the drift. */
static void drift_one(const md_model *model, const md_box *box, md_particles *p, const md_step *step,
                      int64_t *const impulse[3], int64_t i, md_runaway *runaway)
{
  md_particle m = md_particle_of(model, p, i);
  for (int d = 0; d < p->dim; ++d) m.impulse[d] = model->grids.v * (double)impulse[d][i];
  double moved[3] = {0.0};
  bool sane = true;
  md_step_move(step, &m, moved);
  for (int d = 0; d < p->dim; ++d) {
    if (!(fabs(moved[d]) <= step->move_limit)) {
      md_runaway_add(runaway, p->id[i], d, m.x[d], p->v[d][i], m.velocity_per_v);
      sane = false;
    } else if (!step->periodic[d] && !md_step_allows(step, d, moved[d], m.x[d]))
      md_runaway_add(runaway, p->id[i], d, m.x[d], m.v[d], m.velocity_per_v);
  }
  if (sane) md_box_wrap(box, m.x);
  for (int d = 0; d < p->dim; ++d) {
    p->x[d][i] = m.x[d];
    p->v[d][i] = m.v[d];
    if (m.wide) p->v_low[d][i] = m.low[d];
  }
  if (p->has_v_pair) md_model_note_velocity(model, p, i);
}

md_status md_host_drift(const md_model *model, md_particles *p, const md_step *step,
                        int64_t *const impulse[3], int threads)
{
  const md_box box = md_model_shown_box(model);
  md_runaway runaway = md_runaway_none();
#pragma omp parallel num_threads(threads)
  {
    md_runaway found = md_runaway_none();
#pragma omp for schedule(static)
    for (int64_t i = 0; i < p->n; ++i) drift_one(model, &box, p, step, impulse, i, &found);
#pragma omp critical
    md_runaway_add(&runaway, found.id, found.axis, found.x, found.v, found.velocity_per_v);
  }
  return md_runaway_status(&runaway, model);
}

void md_host_act(const md_model *model, md_particles *p, const md_action *action, int threads)
{
  const md_step step = md_step_of(model);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < p->n; ++i) {
    md_particle m = md_particle_of(model, p, i);
    md_step_end(action, &step, &m);
    for (int d = 0; d < p->dim; ++d) {
      p->v[d][i] = m.v[d];
      if (m.wide) p->v_low[d][i] = m.low[d];
    }
  }
}

md_status md_host_find_runaway(const md_model *model, const md_particles *p, const md_step *step)
{
  md_runaway runaway = md_runaway_none();
  for (int64_t i = 0; i < p->n; ++i)
    for (int d = 0; d < p->dim; ++d) {
      const double ratio = md_inertia_of(model, p, i).velocity_per_v, x = p->x[d][i], v = p->v[d][i];
      if (!md_step_allows(step, d, md_drift(v, step->stretch[d] * step->time * ratio, step->round_x), x))
        md_runaway_add(&runaway, p->id[i], d, x, v, ratio);
    }
  return md_runaway_status(&runaway, model);
}
