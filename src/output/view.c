/* Views of one step for observers: each kind of data is fetched at the first request; see observer.h. */
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
static md_status reduce(md_comm *comm, md_measure *m)
{
  md_wide *wide[] = {&m->pair_energy2, &m->virial2,     &m->kinetic,
                     &m->momentum[0],  &m->momentum[1], &m->momentum[2]};
  enum { WIDE = sizeof wide / sizeof wide[0] };
  enum { LIMBS = WIDE * MD_WIDE_LIMBS };
  int64_t values[LIMBS + 1];
  for (int w = 0; w < WIDE; ++w) memcpy(values + w * MD_WIDE_LIMBS, wide[w]->limb, sizeof wide[w]->limb);
  values[LIMBS] = m->count;
  MD_TRY(comm->sum(comm, values, LIMBS + 1));
  for (int w = 0; w < WIDE; ++w) {
    memcpy(wide[w]->limb, values + w * MD_WIDE_LIMBS, sizeof wide[w]->limb);
    md_wide_normalise(wide[w]);
  }
  m->count = values[LIMBS];
  return MD_OK;
}

md_status md_view_thermo(md_view *view)
{
  if (view->have_thermo) return MD_OK;
  md_sim *sim = view->sim;
  if (!view->engine)
    return md_error(MD_USAGE, "thermodynamic quantities are only known while the system runs");
  md_measure measure;
  MD_TRY(md_comm_agree(sim->comm, view->kind->measure(view->engine, &measure)));
  MD_TRY(reduce(sim->comm, &measure));
  view->thermo = md_measure_thermo(&sim->model, &measure);
  view->have_thermo = true;
  sim->last_thermo = view->thermo;
  sim->has_thermo = true;
  return MD_OK;
}

void md_view_close(md_view *view)
{
  free(view->order);
  for (int d = 0; d < 3; ++d) free(view->force[d]);
  *view = (md_view){0};
}
