/* Looking at the present state between runs; see present.h. */
#include "src/library/present.h"
#include "src/box/faces.h"
#include "src/computes/host_compute.h"
#include "src/fixes/fix_vary.h"
#include "src/run/run.h"

/* Shows the state of the engine. */
static md_status show(md_run *run, md_status (*look)(md_sim *, void *), void *context)
{
  md_sim *sim = run->sim;
  md_view view = {.sim = sim, .kind = run->kind, .engine = run->engine, .step = sim->model.step};
  sim->view = &view;
  md_host_computes_show(sim);
  md_status status = md_view_particles(&view);
  if (status == MD_OK) status = md_faces_follow(sim);
  if (status == MD_OK) status = look(sim, context);
  sim->view = NULL;
  md_host_computes_end(sim);
  /* The next command may change the particles. */
  md_host_computes_show(sim);
  md_view_close(&view);
  return status;
}

md_status md_present_show(md_sim *sim, md_status (*look)(md_sim *, void *), void *context)
{
  const int64_t step = sim->model.step;
  md_run run = {.sim = sim, .whole_first = step, .first = step, .last = step, .thermo_shown = -1};
  MD_TRY(md_sim_need_box(sim, "a look at the particles"));
  MD_TRY(md_sim_count(sim));
  MD_TRY(md_run_prepare(&run));
  md_status status = md_fix_vary(sim, 0);
  if (status == MD_OK) status = md_run_create_engine(&run);
  if (status == MD_OK) status = show(&run, look, context);
  /* No step was made: the particles are whole, whatever the status. */
  md_run_destroy_engine(&run);
  md_model_leave(&sim->model, &sim->particles);
  return status;
}

typedef struct attempt {
  md_status (*look)(md_sim *, void *);
  void *context;
  bool made;
} attempt;

static md_status look_again(md_sim *sim, void *context)
{
  attempt *a = context;
  a->made = true;
  return a->look(sim, a->context);
}

md_status md_present_find(md_sim *sim, md_status (*look)(md_sim *, void *), void *context)
{
  attempt again = {look, context, false};
  md_error_record first, second;
  md_status status = look(sim, context);
  if (status != MD_USAGE || !sim->has_box || sim->model.natoms == 0) return status;
  md_error_save(&first, status);
  status = md_present_show(sim, look_again, &again);
  if (status == MD_OK || again.made) return status;
  md_error_save(&second, status);
  return md_error(MD_USAGE, "%.1500s; for the present state it cannot be computed either: %.1500s",
                  first.text, second.text);
}
