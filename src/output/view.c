/* Views of one step for observers: each kind of data is fetched at the first request; see observer.h. */
#include "common/force/external.h"
#include "common/force/forces.h"
#include "common/ranks/reductions.h"
#include "src/measure.h"
#include "src/output/observer.h"
#include "src/sim.h"
#include "src/sums/lagrange.h"
#include "src/sums/temperature.h"

#include <stdlib.h>
#include <string.h>

md_status md_view_particles(md_view *view)
{
  if (view->have_particles) return MD_OK;
  md_comm *comm = view->sim->comm;
  if (view->engine) MD_TRY(md_comm_agree(comm, view->kind->download(view->engine, NULL)));
  view->have_particles = true;
  return MD_OK;
}

md_status md_view_order(md_view *view)
{
  return view->order ? MD_OK : md_particles_order_by_id(&view->sim->particles, &view->order);
}

static md_status allocate_forces(md_view *view)
{
  const md_particles *p = &view->sim->particles;
  for (int d = 0; d < p->dim; ++d)
    MD_TRY(md_array_new(&view->force[d], p->n, sizeof(double), "forces for output"));
  return MD_OK;
}

/* The fixes act on the forces of pairs. */
static md_status act_on_forces(md_view *view)
{
  md_sim *sim = view->sim;
  if (sim->model.nforce_action == 0) return MD_OK;
  return md_forces_output(&sim->model, sim->comm, &sim->particles, view->force, view->forced);
}

md_status md_sim_need_forces(md_sim *sim, const char *what)
{
  if (!sim->view || !sim->view->engine)
    return md_error(MD_USAGE,
                    "%s is only known while a run shows a step: give it to thermo_style or fix print", what);
  return md_view_forces(sim->view);
}

md_status md_view_forces(md_view *view)
{
  if (view->have_forces) return MD_OK;
  if (!view->engine)
    return md_error(
        MD_USAGE,
        "forces are only known at an output of a run: write them by a `dump`, if need be of `run 0`");
  MD_TRY(md_view_particles(view));
  md_comm *comm = view->sim->comm;
  MD_TRY(md_comm_agree(comm, allocate_forces(view)));
  MD_TRY(md_comm_agree(comm, view->kind->download(view->engine, view->force)));
  MD_TRY(act_on_forces(view));
  view->have_forces = true;
  return MD_OK;
}

md_status md_view_external(md_view *view)
{
  const md_model *model = &view->sim->model;
  const int f = md_fixes_external(model);
  return f >= 0 && md_external_is_due(&model->fix[f], model->step) ? md_view_forces(view) : MD_OK;
}

/* The energy of the fixes whose energy counts as potential energy. */
static md_status sum_fix_energy(md_view *view, double *energy)
{
  const md_model *model = &view->sim->model;
  *energy = 0.0;
  for (int f = 0; f < model->nfix; ++f) {
    if (!model->fix[f].energy) continue;
    if (md_fix_style_of(model->fix[f].kind)->external) {
      MD_TRY(md_view_external(view));
      *energy += model->fix[f].state[MD_EXTERNAL_ENERGY];
      continue;
    }
    MD_TRY(md_view_forces(view));
    *energy += view->forced[f].energy;
  }
  return MD_OK;
}

md_status md_view_energy(md_view *view, double *energy)
{
  const md_model *model = &view->sim->model;
  const md_compute *pe = &model->compute[MD_THERMO_PE];
  md_measure measure;
  double value[MD_COMPUTE_TERMS];
  MD_TRY(
      md_measure_ranks(view->kind, view->engine, view->sim->comm, model, md_computes_want(pe, 1), &measure));
  MD_TRY(sum_fix_energy(view, &measure.fix_energy));
  md_compute_evaluate(model, pe, &measure, value);
  *energy = value[0];
  return MD_OK;
}

/* The computes whose values come from the places of all particles. */
static md_status compute_places(md_view *view)
{
  md_sim *sim = view->sim;
  for (int c = 0; c < sim->model.ncompute; ++c) {
    const md_compute *compute = &sim->model.compute[c];
    if (!md_compute_is_of_places(compute)) continue;
    MD_TRY(md_view_particles(view));
    double *value = view->computed.value[c];
    const bool temperature = md_compute_style_of(compute->kind)->temperature;
    MD_TRY(temperature ? md_temperature_measure(sim, compute, value)
                       : md_lagrange_radii(sim, compute, value));
  }
  return MD_OK;
}

md_status md_view_compute(md_view *view)
{
  if (view->have_computed) return MD_OK;
  md_sim *sim = view->sim;
  if (!view->engine)
    return md_error(MD_USAGE, "computes are only known at an output of a run: show them by thermo_style or a "
                              "`dump`, if need be of `run 0`");
  const md_model *model = &sim->model;
  const md_wanted wanted = md_computes_want(model->compute, model->ncompute);
  md_measure measure;
  MD_TRY(md_view_external(view));
  MD_TRY(md_measure_ranks(view->kind, view->engine, sim->comm, model, wanted, &measure));
  MD_TRY(sum_fix_energy(view, &measure.fix_energy));
  md_computes_value(model, &measure, &view->computed);
  for (int f = 0; f < model->nfix; ++f) view->computed.coupled += md_fix_coupled(model, f);
  MD_TRY(compute_places(view));
  view->have_computed = true;
  sim->computed = view->computed;
  sim->has_computed = true;
  if (!view->have_tensor) sim->tensor.known = false;
  return MD_OK;
}

md_status md_view_tensor(md_view *view, int pressure)
{
  if (view->have_tensor && view->tensor_of == pressure) return MD_OK;
  if (!view->engine)
    return md_error(MD_USAGE, "the pressure tensor is only known at an output of a run: show it by "
                              "thermo_style, if need be of `run 0`");
  const md_model *model = &view->sim->model;
  const md_compute *tensor = &model->tensor[pressure];
  md_wanted wanted = md_computes_want(tensor, 1);
  md_measure measure;
  /* The motion of the centre of mass is to be taken away. */
  if (tensor->bias.kind == MD_BIAS_SHIFT)
    wanted.summands |= md_computes_want(&model->compute[tensor->temperature], 1).summands;
  MD_TRY(md_view_external(view));
  MD_TRY(md_measure_ranks(view->kind, view->engine, view->sim->comm, model, wanted, &measure));
  md_compute_evaluate(model, tensor, &measure, view->tensor);
  view->have_tensor = true;
  view->tensor_of = pressure;
  md_last_tensor *last = &view->sim->tensor;
  *last = (md_last_tensor){.known = true, .of = pressure};
  memcpy(last->value, view->tensor, sizeof last->value);
  return MD_OK;
}

md_status md_view_motion(md_view *view, int temperature)
{
  md_sim *sim = view->sim;
  if (view->have_motion && view->motion_of == temperature) return MD_OK;
  MD_TRY(md_view_particles(view));
  MD_TRY(md_temperature_tensor(sim, &sim->model.compute[temperature], view->motion));
  view->have_motion = true;
  view->motion_of = temperature;
  return MD_OK;
}

void md_view_close(md_view *view)
{
  free(view->order);
  free(view->image);
  for (int d = 0; d < 3; ++d) free(view->force[d]);
  *view = (md_view){0};
}
