/* Views of one step for observers: each kind of data is fetched at the first request; see observer.h. */
#include "common/ranks/reductions.h"
#include "src/measure.h"
#include "src/output/observer.h"
#include "src/sim.h"

#include <stdlib.h>

md_status md_view_particles(md_view *view)
{
  if (view->have_particles) return MD_OK;
  md_comm *comm = view->sim->comm;
  if (view->engine) MD_TRY(md_comm_agree(comm, view->kind->download(view->engine, NULL)));
  MD_TRY(md_comm_agree(comm, md_particles_order_by_id(&view->sim->particles, &view->order)));
  view->have_particles = true;
  return MD_OK;
}

static md_status allocate_forces(md_view *view)
{
  const md_particles *p = &view->sim->particles;
  for (int d = 0; d < p->dim; ++d)
    MD_TRY(md_array_new(&view->force[d], p->n, sizeof(double), "forces for output"));
  return MD_OK;
}

md_status md_view_forces(md_view *view)
{
  if (view->have_forces) return MD_OK;
  if (!view->engine) return md_error(MD_USAGE, "forces are only known while the system runs");
  MD_TRY(md_view_particles(view));
  md_comm *comm = view->sim->comm;
  MD_TRY(md_comm_agree(comm, allocate_forces(view)));
  MD_TRY(md_comm_agree(comm, view->kind->download(view->engine, view->force)));
  view->have_forces = true;
  return MD_OK;
}

md_status md_view_compute(md_view *view)
{
  if (view->have_computed) return MD_OK;
  md_sim *sim = view->sim;
  if (!view->engine) return md_error(MD_USAGE, "computes are only known while the system runs");
  const md_model *model = &sim->model;
  const md_wanted wanted = md_computes_want(model->compute, model->ncompute);
  md_measure measure;
  MD_TRY(md_measure_ranks(view->kind, view->engine, sim->comm, model, wanted, &measure));
  md_computes_value(model, &measure, &view->computed);
  view->have_computed = true;
  sim->computed = view->computed;
  sim->has_computed = true;
  return MD_OK;
}

md_status md_view_tensor(md_view *view)
{
  if (view->have_tensor) return MD_OK;
  if (!view->engine) return md_error(MD_USAGE, "the pressure tensor is only known while the system runs");
  const md_model *model = &view->sim->model;
  md_measure measure;
  MD_TRY(md_measure_ranks(view->kind, view->engine, view->sim->comm, model,
                          md_computes_want(&model->tensor, 1), &measure));
  md_compute_evaluate(model, &model->tensor, &measure, view->tensor);
  view->have_tensor = true;
  return MD_OK;
}

void md_view_close(md_view *view)
{
  free(view->order);
  for (int d = 0; d < 3; ++d) free(view->force[d]);
  *view = (md_view){0};
}
