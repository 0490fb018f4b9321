/* The run loop: runs the engine to the next step that an observer wants, calls the observers, and repeats.
 *
 * 1. Each observer says at which step it is due. The earliest of these steps, of the next thermo row and of the
 *    next restart is the end of a gap.
 * 2. The engine runs the gap in pieces. A piece takes about half a second, or about thirty steps where steps are
 *    slow. Within a piece, fixes may act after some steps (src/fixes/fix_end.h). Between two pieces the loop prints the
 *    progress, and looks at signals and at the time limit, as before the first piece. If one of them asks to stop, the
 *    loop writes a restart and ends the run (src/stop.h).
 * 3. The observers that are due see the state. Then the next gap follows.
 *
 * Cutting a run into pieces changes no bit of its results.
 */
#include "src/run/loop.h"
#include "common/ranks/reductions.h"
#include "src/averages/output_fix.h"
#include "src/box/faces.h"
#include "src/box/kept_state.h"
#include "src/box/move.h"
#include "src/computes/host_compute.h"
#include "src/edit/run_edits.h"
#include "src/fixes/fix_end.h"
#include "src/fixes/fix_vary.h"
#include "src/hdf5/hdf5_file.h"
#include "src/particles/pair_velocities.h"
#include "src/restart/cmd_restart.h"
#include "src/run/summary.h"
#include "src/steps.h"
#include "src/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Is step a before step b in the run? */
static bool is_before(const md_run *run, int64_t a, int64_t b)
{
  return run->sim->model.backwards ? a > b : a < b;
}

static int64_t thermo_due(const md_run *run, int64_t step)
{
  const md_output_steps *rows = &run->sim->thermo.rows;
  const int64_t every = rows->every;
  if (!is_before(run, run->first, step)) return run->first;
  if (rows->variable[0] && rows->next < run->last) return step > rows->next ? step : rows->next;
  if (rows->variable[0] || every <= 0) return run->last;
  const bool back = run->sim->model.backwards;
  const int64_t next = back ? md_step_multiple_back(step, every, -1) : md_step_multiple(step, every);
  return is_before(run, next, run->last) ? next : run->last;
}

/* The next step from `step` on at which the observer is due. */
static int64_t due(const md_run *run, md_observer *o, int64_t step)
{
  return run->sim->model.backwards ? o->due_back(o, step) : o->due(o, step);
}

static int64_t restart_due(const md_run *run, int64_t step)
{
  const md_restarts *restarts = &run->sim->restarts;
  return run->sim->model.backwards ? md_restart_due_back(restarts, step) : md_restart_due(restarts, step);
}

int64_t md_run_next_due(const md_run *run, int64_t step)
{
  int64_t next = thermo_due(run, step);
  for (md_observer *o = run->sim->observers; o; o = o->next) {
    const int64_t wanted = run->minimizes && md_is_output_fix(o) ? INT64_MAX : due(run, o, step);
    if (is_before(run, wanted, next)) next = wanted;
  }
  const int64_t restart = restart_due(run, step);
  if (is_before(run, restart, next) && !run->minimizes) next = restart;
  const int64_t edit = md_edits_due(run->sim, step);
  if (!run->minimizes && !run->sim->model.backwards && edit < next) next = edit;
  /* At least one step after the present one, also if an observer names an earlier step: the run must end. */
  return is_before(run, step, next) ? next : step;
}

/* Kinetic and potential energy of the step that was measured last. */
static double total_energy(const md_sim *sim)
{
  return sim->computed.value[MD_THERMO_KE][0] + sim->computed.value[MD_THERMO_PE][0];
}

/* Ends the run at the present step, if fix halt says so; a restart of this step then knows it. */
static void end_if_halted(md_run *run)
{
  md_sim *sim = run->sim;
  if (sim->halted == MD_HALT_NONE || run->minimizes || run->rerun) return;
  md_run_record *record = &sim->history.run[sim->history.nrun - 1];
  run->last = record->last = sim->model.step;
  record->halted = (int64_t)sim->halted;
}

/* Is a restart due before the first step is shown? That state came from the deck or from a restart. But a restart also
 * stores the length of each file of frames. Without it, a resumed job would append the same frames again, if the first
 * job failed, was killed or was stopped within a minimisation. */
static bool first_restart_is_due(const md_run *run)
{
  const md_sim *sim = run->sim;
  const bool wanted = sim->restarts.every > 0 || sim->resuming || (run->minimizes && sim->restarts.stop[0]);
  return wanted && !run->rerun && md_h5_is_here() && !sim->frame && !sim->bars_resume[0] &&
         md_restart_begins_file(sim);
}

static bool restart_is_due(const md_run *run, int64_t step)
{
  return !run->rerun && !run->minimizes && step != run->first && restart_due(run, step) == step;
}

static md_status observe(md_run *run, md_view *view)
{
  md_sim *sim = run->sim;
  const int64_t step = view->step;
  md_observer *o = sim->observers;
  /* A row may show what output fixes find at this very step. Averages over time are of dynamics, as in LAMMPS. */
  for (; o && md_is_output_fix(o); o = o->next)
    if (!run->minimizes && due(run, o, step) == step) MD_TRY(o->observe(o, view));
  end_if_halted(run);
  sim->drawn_row = md_variables_drawn(sim->variables);
  if (thermo_due(run, step) == step && run->thermo_shown != step) {
    MD_TRY(md_thermo_row(sim, view));
    run->thermo_shown = step;
    if (!sim->has_first_energy) sim->first_energy = total_energy(sim);
    sim->has_first_energy = true;
  }
  for (; o; o = o->next)
    if (run->ended || due(run, o, step) == step) MD_TRY(o->observe(o, view));
  /* The restart comes last: all files then hold what the restart says that they hold. */
  return restart_is_due(run, step) ? md_restart_observe(sim, view) : MD_OK;
}

/* The seconds that the engine's timers have counted so far, and perhaps its rebins. */
static double engine_seconds(const md_run *run, double *builds)
{
  md_engine_report report = {0};
  double seconds = 0.0;
  run->kind->report(run->engine, &report);
  if (builds) *builds = (double)report.rebins;
  for (int phase = 0; phase < MD_PHASE_COUNT; ++phase) seconds += report.timers.seconds[phase];
  return seconds;
}

/* Moves faces that follow the particles to where they are shown. */
static md_status show_faces(const md_run *run, md_view *view)
{
  if (!md_box_follows(&run->sim->model.box)) return MD_OK;
  MD_TRY(md_view_particles(view));
  return md_faces_follow(run->sim);
}

/* Calls `to` with a view of the present step. */
static md_status show_to(md_run *run, md_status (*to)(md_run *run, md_view *view))
{
  md_sim *sim = run->sim;
  /* The engine counts the time of forces that an observer asks for. It must not count as output too. */
  double shown[2];
  const double before = engine_seconds(run, &shown[1]), mark = md_time();
  shown[0] = mark - run->started;
  /* Formulas may use the time and the rebins, and must give the same result on all ranks. */
  MD_TRY(sim->comm->reduce->max(sim->comm, shown, 2));
  sim->run_seconds = shown[0];
  sim->run_builds = shown[1];
  md_view view = {.sim = sim, .kind = run->kind, .engine = run->engine, .step = sim->model.step};
  run->engine_box = sim->model.box;
  sim->view = &view;
  md_host_computes_show(sim);
  md_status status = show_faces(run, &view);
  if (status == MD_OK) status = to(run, &view);
  sim->view = NULL;
  md_host_computes_end(sim);
  /* The engine may have chosen other edges for images meanwhile. */
  memcpy(run->engine_box.offset, sim->model.box.offset, sizeof sim->model.box.offset);
  sim->model.box = run->engine_box;
  md_view_close(&view);
  run->output += md_time() - mark - (engine_seconds(run, NULL) - before);
  return status;
}

md_status md_run_show(md_run *run) { return show_to(run, observe); }

static md_status write_restart(md_run *run, md_view *view) { return md_restart_observe(run->sim, view); }

static void show_progress(md_run *run)
{
  const md_sim *sim = run->sim;
  if (run->rerun || run->verifies)
    return; /* how many snapshots there are is not known, or a state comes twice */
  const double seconds = md_time() - run->started;
  md_progress p = {.done = llabs(sim->model.step - run->whole_first),
                   .total = llabs(run->last - run->whole_first),
                   .here = llabs(sim->model.step - run->first),
                   .seconds = seconds};
  p.rate = seconds > 0.0 ? (double)p.here * (double)sim->model.natoms / seconds : 0.0;
  p.has_drift = !run->minimizes && run->thermo_shown >= 0 && run->thermo_shown != run->whole_first &&
                sim->first_energy != 0.0;
  if (p.has_drift) p.drift = (total_energy(sim) - sim->first_energy) / fabs(sim->first_energy);
  md_log_progress(sim->log, &p);
}

/* Estimated seconds to write a restart: the longest so far, or, before the first one, the time of a slow disk. */
static double restart_seconds(const md_sim *sim)
{
  if (sim->restarts.seconds > 0.0) return sim->restarts.seconds;
  return 5e-9 * (double)sim->model.natoms * md_particles_bytes(&sim->particles);
}

/* Makes all ranks act alike: a signal or an expired time limit on any rank stops all ranks. *seconds becomes the
 * largest value of all ranks. */
static md_status look_at_stop(md_run *run, double *seconds)
{
  md_sim *sim = run->sim;
  double most[3] = {*seconds, 0.0, 0.0};
  if (sim->stop) {
    sim->stop->piece = md_max(sim->stop->piece, *seconds);
    most[1] = md_stop_signal();
    most[2] = md_stop_is_late(sim->stop, restart_seconds(sim));
  }
  /* The times too, as all ranks must choose the same pieces. */
  MD_TRY(sim->comm->reduce->max(sim->comm, most, 3));
  *seconds = most[0];
  run->signal = (int)most[1];
  run->late = most[2] > 0.0;
  return MD_OK;
}

/* Looks at signals and the limit of time before the first piece: runs in a loop of the deck may all be shorter than a
 * piece. A limit that comes before this process has done a piece does not count, so that every job gets on. */
static md_status look_before(md_run *run)
{
  const md_stop *stop = run->sim->stop;
  double seconds = 0.0;
  if (run->first == run->last) return MD_OK;
  const bool begun = stop && stop->piece > 0.0;
  MD_TRY(look_at_stop(run, &seconds));
  run->late = run->late && begun;
  return MD_OK;
}

/* The length of the next piece, if `piece` steps took `seconds`: about half a second's worth of steps. At the end
 * of a piece the engine completes the velocities, which costs about a step. So slow steps get longer pieces, to
 * keep this cost small. A piece at most doubles, and grows faster only while a piece takes almost no time. */
static int64_t next_piece(int64_t piece, double seconds)
{
  const double least = piece < 32 ? 2.0 : 0.25, most = piece <= 32 ? 8.0 : 1.0;
  if (piece >= INT64_C(1) << 40 && seconds < least) return piece;
  if (seconds < 0.125) return (int64_t)((double)piece * md_min(0.25 / md_max(seconds, 1e-9), 8.0));
  if (seconds < least) return 2 * piece;
  if (seconds <= most) return piece;
  const int64_t fewer = (int64_t)((double)piece * 0.5 * most / seconds);
  return fewer > 1 ? fewer : 1;
}

md_status md_run_look(md_run *run, double *seconds)
{
  MD_TRY(look_at_stop(run, seconds));
  show_progress(run);
  return MD_OK;
}

/* Runs n steps, again with a larger box as often as a particle leaves the engine's box through a face that follows the
 * particles. */
static md_status run_steps(md_run *run, int64_t n)
{
  md_sim *sim = run->sim;
  if (md_box_follows(&sim->model.box)) {
    MD_TRY(md_comm_agree(sim->comm, run->kind->download(run->engine, NULL)));
    MD_TRY(md_comm_agree(sim->comm, md_kept_state_save(&run->kept, sim)));
  }
  for (;;) {
    const md_status status = md_comm_agree(sim->comm, md_fix_end_run(run->kind, run->engine, sim, n));
    if (status != MD_OUTGROWN) return status;
    MD_TRY(md_run_grow_box(run));
  }
}

md_status md_run_advance(md_run *run, int64_t to)
{
  md_sim *sim = run->sim;
  while (sim->model.step != to && !md_run_is_stopped(run)) {
    const int64_t left = llabs(to - sim->model.step);
    const int64_t n = sim->piece < left ? sim->piece : left;
    const double mark = md_time();
    MD_TRY(run_steps(run, n));
    const double ended = md_time();
    double seconds = md_time() - mark;
    MD_TRY(md_run_look(run, &seconds));
    run->agreeing += md_time() - ended;
    /* The rest of a gap is too short to adapt the length of pieces, unless it took too long. */
    if (n == sim->piece || seconds > 1.0) sim->piece = next_piece(n, seconds);
  }
  return MD_OK;
}

/* Lets fixes that change the particles between steps do so after the present step, and makes a new engine. */
static md_status edit_particles(md_run *run)
{
  md_sim *sim = run->sim;
  if (sim->model.backwards || md_edits_due(sim, sim->model.step) != sim->model.step) return MD_OK;
  MD_TRY(md_comm_agree(sim->comm, run->kind->download(run->engine, NULL)));
  md_box_move_end(sim);
  MD_TRY(md_faces_follow(sim));
  md_run_destroy_engine(run);
  md_model_leave(&sim->model, &sim->particles);
  MD_TRY(md_pair_velocities_mark(sim));
  MD_TRY(md_edits_apply(sim));
  MD_TRY(md_run_renew(run));
  MD_TRY(md_fix_vary(sim, 0));
  return md_fix_end_begin(run->kind, run->engine, sim->comm, &sim->model, MD_RUN_EDITED);
}

md_status md_run_to_last(md_run *run)
{
  while (run->sim->model.step != run->last && !md_run_is_stopped(run)) {
    MD_TRY(md_run_advance(run, md_run_next_due(run, md_model_step_after(&run->sim->model, 1))));
    MD_TRY(edit_particles(run));
    MD_TRY(md_run_show(run));
  }
  return MD_OK;
}

/* Shows the first step. A row that a resume shows again draws the random numbers that it drew then. */
static md_status show_first(md_run *run)
{
  md_sim *sim = run->sim;
  const bool redraws = sim->redraws;
  sim->redraws = false;
  if (redraws) md_variables_set_drawn(sim->variables, sim->drawn);
  if (first_restart_is_due(run)) {
    sim->unshown = !redraws;
    const md_status status = show_to(run, write_restart);
    sim->unshown = false;
    MD_TRY(status);
  }
  if (redraws) md_variables_set_drawn(sim->variables, sim->drawn_row);
  MD_TRY(md_run_show(run));
  if (redraws) md_variables_set_drawn(sim->variables, sim->drawn);
  return MD_OK;
}

md_status md_run_loop(md_run *run)
{
  md_sim *sim = run->sim;
  if (!run->verifies) MD_TRY(md_run_announce_memory(run));
  if (!run->verifies) MD_TRY(md_thermo_header(sim));
  run->started = md_time();
  run->cpu_started = (double)clock() / CLOCKS_PER_SEC;
  if (!run->verifies) MD_TRY(show_first(run));
  MD_TRY(look_before(run));
  run->works = true;
  MD_TRY(run->work(run));
  /* A finished run needs no restart. The deck continues, and its next run looks at signals and time again. */
  if (sim->model.step == run->last) run->signal = run->late = 0;
  if (md_run_is_stopped(run) && md_h5_is_here() && !sim->stop->plain && !run->minimizes && !run->rerun &&
      !run->verifies)
    MD_TRY(show_to(run, write_restart));
  return MD_OK;
}
