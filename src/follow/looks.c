/* When to look at particles again; see looks.h. Cost: a pass over the particles. */
#include "src/follow/looks.h"
#include "common/groups.h"
#include "common/ranks/reductions.h"

#include <math.h>
#include <stdlib.h>

static const double SPEEDS = 8.0;

void md_looks_start(md_looks *looks, const md_sim *sim)
{
  *looks = (md_looks){.next = sim->model.step, .last = -1, .begun = sim->model.step};
}

double md_looks_speed(const md_sim *sim, uint32_t bit)
{
  const md_particles *p = &sim->particles;
  double most = 0.0;
#pragma omp parallel for schedule(static) reduction(max : most)
  for (int64_t i = 0; i < p->n; ++i)
    for (int d = 0; d < p->dim && md_particles_in_group(p, bit, i); ++d)
      most = md_max(most, fabs(md_model_velocity(&sim->model, p, d, i)));
  return most;
}

md_status md_looks_plan(md_sim *sim, md_looks *looks, const md_follow_pace *pace)
{
  const md_model *model = &sim->model;
  double side = (double)INFINITY, most = pace->speed;
  if (looks->last >= 0 && looks->last != model->step)
    most = md_max(most, pace->moved / ((double)llabs(model->step - looks->last) * model->dt));
  MD_TRY(sim->comm->reduce->max(sim->comm, &most, 1));
  looks->last = model->step;
  looks->pace = md_max(most, 0.5 * looks->pace);
  for (int d = 0; d < model->box.dim; ++d)
    if (model->box.periodic[d]) side = md_min(side, model->box.length[d]);
  const double had = (double)llabs(model->step - looks->begun);
  const double steps = md_min(had, floor(0.5 * side / (SPEEDS * looks->pace * model->dt)));
  looks->next = md_model_step_after(model, (int64_t)md_max(1.0, steps));
  return MD_OK;
}

void md_looks_note_fault(md_follow_fault *fault, md_follow_wrong kind, int64_t id, int axis)
{
  const bool first =
      fault->kind == MD_FOLLOW_GOOD || kind < fault->kind || (kind == fault->kind && id < fault->id);
  if (first) *fault = (md_follow_fault){kind, id, axis};
}

/* Maxima are of doubles: the two halves of an id are exact there. */
md_status md_looks_first_fault(md_comm *comm, md_follow_fault *fault)
{
  const double key[3] = {-(double)fault->kind, -(double)(fault->id >> 32), -(double)(fault->id & 0xffffffff)};
  bool first = fault->kind != MD_FOLLOW_GOOD;
  for (int k = 0; k < 3; ++k) {
    double most = first ? key[k] : -(double)INFINITY;
    MD_TRY(comm->reduce->max(comm, &most, 1));
    if (!isfinite(most)) return MD_OK; /* no rank has a fault */
    first = first && key[k] == most;
  }
  if (!first) fault->kind = MD_FOLLOW_GOOD;
  return MD_OK;
}

int64_t md_looks_due(const md_looks *looks, int64_t step) { return looks->next > step ? looks->next : step; }

int64_t md_looks_due_back(const md_looks *looks, int64_t step)
{
  return looks->next < step ? looks->next : step;
}
