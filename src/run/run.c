/* The life of a run; see run.h.
 *
 * Cost: a run of n particles prepares and places them in O(n), and creates an engine, which sorts them.
 */
#include "src/run/run.h"
#include "common/force/external.h"
#include "common/force/forces.h"
#include "common/kick_range.h"
#include "common/ranks/domains.h"
#include "common/ranks/exchange.h"
#include "src/bonds/special.h"
#include "src/box/faces.h"
#include "src/box/kept_state.h"
#include "src/box/move.h"
#include "src/engines/engines.h"
#include "src/fixes/centres.h"
#include "src/fixes/external.h"
#include "src/fixes/fix_end.h"
#include "src/fixes/fix_vary.h"
#include "src/fixes/moved_once.h"
#include "src/particles/divide.h"
#include "src/particles/extent.h"
#include "src/particles/pair_velocities.h"
#include "src/particles/share.h"
#include "src/plan.h"
#include "src/potential/tail_count.h"
#include "src/region/users.h"
#include "src/restart/items.h"
#include "src/restart/resume.h"
#include "src/run/loop.h"
#include "src/run/summary.h"

#include <math.h>

md_status md_run_decompose(md_sim *sim)
{
  const md_model *model = &sim->model;
  const double halo = model->reach > 0.0 ? model->reach + md_model_skin(model) : 0.0;
  return sim->comm->domains->decompose(sim->comm, model, halo);
}

/* Gives the particles to the ranks in whose domains they are; without a cutoff, in equal shares. */
static md_status divide_particles(md_sim *sim)
{
  md_model *model = &sim->model;
  if (md_pair_is_all(&model->pair)) return md_particles_share(sim->comm, &sim->particles);
  MD_TRY(md_run_decompose(sim));
  return sim->comm->exchange->migrate(sim->comm, model, &sim->particles);
}

md_status md_run_create_engine(md_run *run)
{
  md_sim *sim = run->sim;
  md_engine *engine = NULL;
  md_status status = md_external_start(&sim->model, sim->comm, &sim->particles);
  if (status == MD_OK)
    status = run->kind->create(&engine, &sim->model, &sim->particles, sim->comm, &sim->options);
  run->engine = status == MD_OK ? engine : NULL;
  run->engine_box = sim->model.box;
  return md_comm_agree(sim->comm, status);
}

md_status md_run_grow_box(md_run *run)
{
  md_sim *sim = run->sim;
  md_error_record reason;
  md_error_save(&reason, MD_USAGE);
  md_run_destroy_engine(run);
  const md_status status = md_kept_state_restore(&run->kept, sim);
  if (status == MD_OUTGROWN) return md_error_restore(&reason);
  MD_TRY(status);
  MD_TRY(divide_particles(sim));
  return md_run_create_engine(run);
}

static void add_timers(md_timers *sum, const md_timers *timers)
{
  for (int phase = 0; phase < MD_PHASE_COUNT; ++phase) sum->seconds[phase] += timers->seconds[phase];
}

void md_run_destroy_engine(md_run *run)
{
  if (!run->engine) return;
  md_engine_report report = {0};
  run->kind->report(run->engine, &report);
  add_timers(&run->spent, &report.timers);
  run->kind->destroy(run->engine);
  run->engine = NULL;
  run->sim->particles.nghost = 0;
}

static void stop_particles(md_particles *p)
{
  for (int d = 0; d < p->dim; ++d)
    for (int64_t i = 0; i < p->n; ++i) {
      p->v[d][i] = 0.0;
      if (p->wide) p->v_low[d][i] = 0;
    }
}

/* Puts the particles on the grids of the prepared model, and moves them to the ranks that own them. */
static md_status place_particles(md_run *run)
{
  md_sim *sim = run->sim;
  if (sim->resume)
    MD_TRY(md_resume_load(sim));
  else {
    MD_TRY(md_pair_velocities_check(sim));
    MD_TRY(md_comm_agree(sim->comm, md_model_enter(&sim->model, &sim->particles)));
  }
  if (run->stops) stop_particles(&sim->particles);
  run->stops = false;
  md_box_move_back(sim);
  MD_TRY(md_special_make(sim));
  MD_TRY(md_divide_types(sim));
  return divide_particles(sim);
}

static void renew_room(md_sim *sim)
{
  const double before = sim->model.box.room;
  md_box_forget_room(&sim->model.box);
  if (before > 0.0 && sim->model.box.room == 0.0)
    md_log_print(
        sim->log,
        "Note: particles or box went beyond half of the room that positions had, %g: this run has more room, "
        "and a coarser grid of positions\n",
        before);
}

md_status md_run_prepare(md_run *run)
{
  md_sim *sim = run->sim;
  md_model *model = &sim->model;
  MD_TRY(md_faces_follow(sim));
  for (md_observer *o = sim->observers; o; o = o->next)
    if (o->check) MD_TRY(o->check(o, sim));
  MD_TRY(md_regions_take(sim));
  run->resumed = sim->resume && sim->resume->restart.under_way;
  if (!sim->resume) renew_room(sim);
  MD_TRY(md_extent_find(sim));
  MD_TRY(md_tail_count(sim));
  MD_TRY(run->minimizes ? md_kick_range_minimized(model) : md_model_prepare(model));
  if (run->minimizes) md_forces_keep_minimized(model);
  run->kind = md_engine_for(sim->engine, model, &sim->options, sim->comm->size);
  model->sides_most = md_engine_sides_most(run->kind, &sim->options, sim->comm->size);
  if (!run->minimizes) MD_TRY(md_fix_end_check(model));
  if (!run->minimizes && !run->rerun) md_fix_end_explain(sim);
  if (!run->minimizes) MD_TRY(md_check_moved_once(sim));
  MD_TRY(md_centres_begin(sim, run->minimizes));
  MD_TRY(md_external_check(sim));
  MD_TRY(md_plan_check_room(sim));
  if (model->backwards && !sim->resume) MD_TRY(md_fixes_begin_back(model, run->last));
  sim->broken = true;
  MD_TRY(place_particles(run));
  sim->broken = false;
  return MD_OK;
}

md_status md_run_renew(md_run *run)
{
  MD_TRY(md_run_prepare(run));
  return md_run_create_engine(run);
}

static md_status run_engine(md_run *run)
{
  md_sim *sim = run->sim;
  /* Observers see the box that is shown. */
  MD_TRY(md_faces_follow(sim));
  for (md_observer *o = run->verifies ? NULL : sim->observers; o; o = o->next)
    if (o->start) MD_TRY(o->start(o, sim));
  sim->model.box = run->engine_box;
  if (!run->minimizes)
    MD_TRY(md_fix_end_begin(run->kind, run->engine, sim->comm, &sim->model,
                            run->resumed ? MD_RUN_RESUMED : MD_RUN_BEGINS));
  MD_TRY(md_run_loop(run));
  const double seconds = md_time() - run->started;
  md_engine_report report = {0};
  run->kind->report(run->engine, &report);
  add_timers(&report.timers, &run->spent);
  sim->run_work = report.timers.seconds[MD_PHASE_FORCE] + report.timers.seconds[MD_PHASE_LIST];
  sim->run_neighbours = report.neighbours * (double)sim->particles.n;
  MD_TRY(md_comm_agree(sim->comm, run->kind->download(run->engine, NULL)));
  if (!md_run_is_stopped(run)) md_box_move_end(sim);
  MD_TRY(md_faces_follow(sim));
  for (md_observer *o = run->verifies ? NULL : sim->observers; o; o = o->next)
    if (o->finish) MD_TRY(o->finish(o, sim));
  if (!run->verifies) MD_TRY(md_run_summary(run, &report.timers, seconds));
  MD_TRY(md_comm_agree(sim->comm, md_log_status(sim->log)));
  return md_run_is_stopped(run) ? md_run_stopped(run) : MD_OK;
}

/* Has a run that ended with `status` left particles that are not those of a whole step? A fault of the deck, or a file
 * that cannot be opened, leaves those of the beginning if it shows before the first step. */
static bool is_broken(md_run *run, md_status status)
{
  md_sim *sim = run->sim;
  md_error_record record;
  if (status == MD_OK || status == MD_STOPPED) return false;
  /* An engine that is to be made anew has left the particles, which a snapshot or an edit may have changed in part. */
  if (status != MD_USAGE && (status != MD_RUNTIME || run->works)) return true;
  if (sim->model.step != run->first || !run->engine) return true;
  md_error_save(&record, status);
  const md_status download = md_comm_agree(sim->comm, run->kind->download(run->engine, NULL));
  (void)md_error_restore(&record);
  return download != MD_OK;
}

md_status md_run_refused(md_sim *sim, md_status status)
{
  if (status != MD_STOPPED && !sim->broken) --sim->history.nrun;
  return status;
}

void md_run_note(md_sim *sim, int64_t last)
{
  md_run_record *record = &sim->history.run[sim->history.nrun - 1];
  record->last = last;
  record->computed = sim->computed;
  record->drawn = md_variables_drawn(sim->variables);
  record->natoms = sim->model.natoms;
  md_faces_put(&sim->model.box, record->box);
}

md_status md_run_execute(md_run *run)
{
  md_sim *sim = run->sim;
  md_model *model = &sim->model;
  MD_TRY(md_run_prepare(run));
  if (run->work == md_run_to_last)
    sim->history.run[sim->history.nrun - 1].model = md_restart_course_hash(model);
  run->first = model->step;
  if (!run->verifies) md_run_describe(run);
  MD_TRY(md_fix_vary(sim, 0));
  md_status status = md_run_create_engine(run);
  if (status == MD_OK) {
    if (!run->verifies) md_run_describe_grid(sim);
    status = run_engine(run);
    sim->broken = is_broken(run, status);
  }
  md_log_progress_end(sim->log);
  md_run_destroy_engine(run);
  md_kept_state_free(&run->kept);
  md_model_leave(model, &sim->particles);
  return status == MD_OK ? md_pair_velocities_mark(sim) : status;
}
