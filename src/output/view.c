/* Views of one step for observers: each kind of data is fetched at the first request; see observer.h. */
#include "common/ranks/reductions.h"
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

/* Sums over ranks. The limbs of wide sums are summed separately, without carries; see exact.h. */
static md_status reduce(md_comm *comm, const md_model *model, md_measure *m)
{
  md_wide *wide[2 + MD_TERMS_MAX] = {&m->pair_energy2, &m->virial2};
  int64_t values[(2 + MD_TERMS_MAX) * MD_WIDE_LIMBS + 1];
  int n = 2;
  for (int t = 0; t < model->nterm; ++t) wide[n++] = &m->term[t];
  for (int w = 0; w < n; ++w) memcpy(values + w * MD_WIDE_LIMBS, wide[w]->limb, sizeof wide[w]->limb);
  values[n * MD_WIDE_LIMBS] = m->count;
  MD_TRY(comm->reduce->sum(comm, values, n * MD_WIDE_LIMBS + 1));
  for (int w = 0; w < n; ++w) {
    memcpy(wide[w]->limb, values + w * MD_WIDE_LIMBS, sizeof wide[w]->limb);
    md_wide_normalise(wide[w]);
  }
  m->count = values[n * MD_WIDE_LIMBS];
  return MD_OK;
}

md_status md_view_compute(md_view *view)
{
  if (view->have_computed) return MD_OK;
  md_sim *sim = view->sim;
  if (!view->engine) return md_error(MD_USAGE, "computes are only known while the system runs");
  md_measure measure;
  MD_TRY(md_comm_agree(sim->comm, view->kind->measure(view->engine, &measure)));
  MD_TRY(reduce(sim->comm, &sim->model, &measure));
  md_computes_value(&sim->model, &measure, &view->computed);
  view->have_computed = true;
  sim->computed = view->computed;
  sim->has_computed = true;
  return MD_OK;
}

void md_view_close(md_view *view)
{
  free(view->order);
  for (int d = 0; d < 3; ++d) free(view->force[d]);
  *view = (md_view){0};
}
