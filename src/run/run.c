/* The run loop: runs the engine to the next step that an observer wants, calls the observers, and repeats.
 *
 * 1. Each observer says at which step it is due. The earliest of these steps, of the next thermo row and of the
 *    next restart is the end of a gap.
 * 2. The engine runs the gap in pieces. A piece takes about half a second, or about thirty steps where steps are
 *    slow. Within a piece, fixes may act after some steps (src/fixes/fix_end.h). Between two pieces the loop prints the
 *    progress, and looks at signals and at the time limit, as before the first piece. If one of them asks to stop, the
 *    loop writes a restart and ends the run (stop.h).
 * 3. The observers that are due see the state. Then the next gap follows.
 *
 * Cutting a run into pieces changes no bit of its results. The closing lines of a run are those of LAMMPS, so that
 * existing log readers work.
 */
#include "src/run.h"
#include "common/force/external.h"
#include "common/force/forces.h"
#include "common/kick_range.h"
#include "common/ranks/domains.h"
#include "common/ranks/exchange.h"
#include "common/ranks/reductions.h"
#include "src/averages/output_fix.h"
#include "src/backwards/check_back.h"
#include "src/backwards/frame.h"
#include "src/bonds/special.h"
#include "src/box/faces.h"
#include "src/box/kept_state.h"
#include "src/box/move.h"
#include "src/computes/host_compute.h"
#include "src/deck/check.h"
#include "src/deck/deck.h"
#include "src/edit/run_edits.h"
#include "src/engines/engines.h"
#include "src/fixes/centres.h"
#include "src/fixes/external.h"
#include "src/fixes/fix_end.h"
#include "src/fixes/fix_vary.h"
#include "src/fixes/moved_once.h"
#include "src/follow/images.h"
#include "src/particles/divide.h"
#include "src/particles/extent.h"
#include "src/particles/pair_velocities.h"
#include "src/particles/share.h"
#include "src/plan.h"
#include "src/potential/tail_count.h"
#include "src/region/users.h"
#include "src/restart/cmd_restart.h"
#include "src/restart/resume.h"
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
  /* At least one step further, so that the run looks at signals and ends, whatever an observer answers. */
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

/* Is a restart of the first step due? That state came from the deck or from a restart. But only a restart says how long
 * a file was to which frames are appended: a resume without it would append those frames again that a killed job has
 * written, or one that was stopped within a minimisation. */
static bool first_restart_is_due(const md_run *run)
{
  const md_sim *sim = run->sim;
  const bool wanted = sim->restarts.every > 0 || sim->resuming || (run->minimizes && sim->restarts.stop[0]);
  return wanted && md_h5_is_here() && !sim->frame && !sim->bars_resume[0] && md_restart_begins_file(sim);
}

static bool restart_is_due(const md_run *run, int64_t step)
{
  if (run->rerun) return false;
  if (step == run->first) return first_restart_is_due(run);
  return !run->minimizes && restart_due(run, step) == step;
}

static md_status observe(md_run *run, int64_t step, md_view *view)
{
  md_sim *sim = run->sim;
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

md_status md_run_show(md_run *run, bool stopped)
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
  md_host_computes_forget(sim);
  md_status status = show_faces(run, &view);
  if (status == MD_OK)
    status = stopped ? md_restart_observe(sim, &view) : observe(run, sim->model.step, &view);
  sim->view = NULL;
  md_host_computes_forget(sim);
  /* The engine may have chosen other edges for images meanwhile. */
  memcpy(run->engine_box.offset, sim->model.box.offset, sizeof sim->model.box.offset);
  sim->model.box = run->engine_box;
  md_view_close(&view);
  run->output += md_time() - mark - (engine_seconds(run, NULL) - before);
  return status;
}

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

/* Goes back to the kept state, with a larger box. */
static md_status grow_box(md_run *run)
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
    MD_TRY(grow_box(run));
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

/* The work of the command run: steps, from one that an observer wants to see to the next. */
static md_status run_to_last(md_run *run)
{
  while (run->sim->model.step != run->last && !md_run_is_stopped(run)) {
    MD_TRY(md_run_advance(run, md_run_next_due(run, md_model_step_after(&run->sim->model, 1))));
    MD_TRY(edit_particles(run));
    MD_TRY(md_run_show(run, false));
  }
  return MD_OK;
}

/* Prints the line that many log readers take for the start of a thermo table. */
static md_status announce_memory(md_run *run)
{
  md_comm *comm = run->sim->comm;
  md_engine_report report = {0};
  run->kind->report(run->engine, &report);
  const double mine = (double)report.bytes / (1024.0 * 1024.0);
  double extremes[2] = {-mine, mine};
  int64_t total = report.bytes;
  MD_TRY(comm->reduce->max(comm, extremes, 2));
  MD_TRY(comm->reduce->sum(comm, &total, 1));
  md_log_print(run->sim->log, "Per MPI rank memory allocation (min/avg/max) = %.4g | %.4g | %.4g Mbytes\n",
               -extremes[0], (double)total / (1024.0 * 1024.0) / comm->size, extremes[1]);
  return MD_OK;
}

/* Shows the first step. A row that a resume shows again draws the random numbers that it drew then. */
static md_status show_first(md_run *run)
{
  md_sim *sim = run->sim;
  const bool redraws = sim->redraws;
  sim->redraws = false;
  if (redraws) md_variables_set_drawn(sim->variables, sim->drawn_row);
  MD_TRY(md_run_show(run, false));
  if (redraws) md_variables_set_drawn(sim->variables, sim->drawn);
  return MD_OK;
}

static md_status loop(md_run *run)
{
  md_sim *sim = run->sim;
  if (!run->verifies) MD_TRY(announce_memory(run));
  if (!run->verifies) MD_TRY(md_thermo_header(sim));
  run->started = md_time();
  run->cpu_started = (double)clock() / CLOCKS_PER_SEC;
  if (!run->verifies) MD_TRY(show_first(run));
  MD_TRY(look_before(run));
  MD_TRY(run->work(run));
  /* A finished run needs no restart. The deck continues, and its next run looks at signals and time again. */
  if (sim->model.step == run->last) run->signal = run->late = 0;
  if (md_run_is_stopped(run) && md_h5_is_here() && !sim->stop->plain && !run->minimizes && !run->rerun &&
      !run->verifies)
    MD_TRY(md_run_show(run, true));
  return MD_OK;
}

/* The largest number of rows: all phases, the sum of the communication phases, and the remaining time. */
enum { MOST_ROWS = MD_PHASE_COUNT + 2 };

/* Minimum, mean and maximum over all ranks of n values, n <= MOST_ROWS. The mean is computed from whole multiples
 * of `unit`. Collective. */
static md_status over_ranks(md_comm *comm, const double *value, int n, double unit, double *least,
                            double *mean, double *most)
{
  double extremes[2 * MOST_ROWS];
  int64_t sum[MOST_ROWS];
  for (int k = 0; k < n; ++k) {
    extremes[k] = value[k];
    extremes[n + k] = -value[k];
    sum[k] = llrint(value[k] / unit);
  }
  MD_TRY(comm->reduce->max(comm, extremes, 2 * n));
  MD_TRY(comm->reduce->sum(comm, sum, n));
  for (int k = 0; k < n; ++k) {
    most[k] = extremes[k];
    least[k] = -extremes[n + k];
    mean[k] = (double)sum[k] * unit / comm->size;
  }
  return MD_OK;
}

/* The rows of the timing table: the phases, the sum of the communication phases above these phases, and the time
 * that no phase counts. */
typedef struct breakdown_rows {
  int n;
  struct {
    const char *name;
    bool part; /* a part of the sum in an earlier row */
  } row[MOST_ROWS];
  double seconds[MOST_ROWS];
} breakdown_rows;

static double *add_row(breakdown_rows *rows, const char *name, bool part)
{
  rows->row[rows->n].name = name;
  rows->row[rows->n].part = part;
  return &rows->seconds[rows->n++];
}

static breakdown_rows rows_of(const md_run *run, const md_engine_report *report, double seconds)
{
  breakdown_rows rows = {0};
  double *comm = NULL, rest = seconds;
  for (int k = 0; k < MD_PHASE_COUNT; ++k) {
    const md_phase phase = (md_phase)k;
    const bool part = md_phase_is_comm(phase);
    double here = report->timers.seconds[phase];
    if (phase == MD_PHASE_OUTPUT) here += run->output;
    if (phase == MD_PHASE_REDUCE) here += run->agreeing;
    if (part && !comm) comm = add_row(&rows, "Comm", false);
    if (part) *comm += here;
    *add_row(&rows, md_phase_name(phase), part) = here;
    rest -= here;
  }
  *add_row(&rows, "Other", false) = md_max(rest, 0.0);
  return rows;
}

/* Prints the timing table. With several ranks it has LAMMPS's layout, with the imbalance and the parts of
 * communication. */
static md_status breakdown(const md_run *run, const md_engine_report *report, double seconds)
{
  md_sim *sim = run->sim;
  const breakdown_rows rows = rows_of(run, report, seconds);
  double least[MOST_ROWS], mean[MOST_ROWS], most[MOST_ROWS];
  MD_TRY(over_ranks(sim->comm, rows.seconds, rows.n, 1e-9, least, mean, most));
  const bool many = sim->comm->size > 1;
  md_log_print(sim->log, many ? "\nMPI task timing breakdown:\n"
                                "Section   |  min time  |  avg time  |  max time  | max/avg | %%total\n"
                                "-----------------------------------------------------------------------\n"
                              : "\nTask timing breakdown:\n"
                                "Section |    time    | %%total\n"
                                "--------------------------------\n");
  for (int k = 0; k < rows.n; ++k) {
    const char *name = rows.row[k].name;
    const bool part = rows.row[k].part;
    const double share = seconds > 0.0 ? 100.0 * mean[k] / seconds : 0.0;
    if (many)
      md_log_print(sim->log, "%s%-*s | %-10.5g | %-10.5g | %-10.5g | %7.3f | %6.2f\n", part ? "  " : "",
                   part ? 7 : 9, name, least[k], mean[k], most[k], mean[k] > 0.0 ? most[k] / mean[k] : 1.0,
                   share);
    else if (!part)
      md_log_print(sim->log, "%-7s | %-10.5g | %6.2f\n", name, mean[k], share);
  }
  md_log_print(sim->log, "\n");
  return MD_OK;
}

/* Prints particles, ghosts, neighbours and memory, with their spread over the ranks if there are several. */
static md_status shares(const md_run *run, const md_engine_report *report)
{
  md_sim *sim = run->sim;
  enum { PARTICLES, GHOSTS, NEIGHBOURS, ROWS };
  const double value[ROWS] = {(double)sim->particles.n, (double)report->ghosts, report->neighbours};
  double least[ROWS], mean[ROWS], most[ROWS];
  MD_TRY(over_ranks(sim->comm, value, ROWS, 0x1p-10, least, mean, most));
  int64_t bytes = report->bytes;
  MD_TRY(sim->comm->reduce->sum(sim->comm, &bytes, 1));
  if (sim->comm->size > 1) {
    md_log_print(sim->log, "Particles of a rank: %.8g ave %.8g max %.8g min, imbalance %.4g\n",
                 mean[PARTICLES], most[PARTICLES], least[PARTICLES],
                 mean[PARTICLES] > 0.0 ? most[PARTICLES] / mean[PARTICLES] : 1.0);
    md_log_print(sim->log,
                 "Ghosts of a rank: %.8g ave %.8g max %.8g min, stored neighbours: %.2f per particle\n",
                 mean[GHOSTS], most[GHOSTS], least[GHOSTS], mean[NEIGHBOURS]);
  } else {
    md_log_print(sim->log, "Ghosts: %lld, stored neighbours: %.2f per particle\n", (long long)report->ghosts,
                 report->neighbours);
  }
  if (sim->model.natoms > 0)
    md_log_print(sim->log, "Memory: %.1f bytes per particle\n\n", (double)bytes / (double)sim->model.natoms);
  return MD_OK;
}

/* LAMMPS's line. rate: steps in a second. */
static void print_rate(const md_sim *sim, double rate)
{
  const double nanosecond = sim->model.units->nanosecond, day = rate * sim->model.dt * 86400.0;
  if (nanosecond > 0.0)
    md_log_print(sim->log, "Performance: %.3f ns/day, %.3f hours/ns, ", day / nanosecond,
                 day > 0.0 ? 24.0 * nanosecond / day : 0.0);
  else
    md_log_print(sim->log, "Performance: %.3f tau/day, ", day);
  md_log_print(sim->log, "%.3f timesteps/s, %.3f Matom-step/s\n", rate,
               rate * (double)sim->model.natoms * 1e-6);
}

/* Prints the summary. `timers` are the engine's timers at the end of the loop; later work is not part of the time. */
static md_status summary(const md_run *run, const md_timers *timers, double seconds)
{
  md_sim *sim = run->sim;
  md_engine_report report = {0};
  run->kind->report(run->engine, &report);
  report.timers = *timers;
  const double cpu = (double)clock() / CLOCKS_PER_SEC - run->cpu_started;
  const int64_t steps = run->rerun ? run->shown : llabs(sim->model.step - run->first);
  int64_t procs = report.threads;
  MD_TRY(sim->comm->reduce->sum(sim->comm, &procs, 1));
  md_log_print(sim->log, "Loop time of %g on %lld procs for %lld steps with %lld atoms\n\n", seconds,
               (long long)procs, (long long)steps, (long long)sim->model.natoms);
  if (run->brief) return MD_OK;
  if (steps > 0 && seconds > 0.0) {
    const double rate = (double)steps / seconds;
    if (!run->minimizes && !run->rerun) print_rate(sim, rate);
    md_log_print(sim->log, "%.1f%% CPU use with %d MPI tasks x %d OpenMP threads\n",
                 100.0 * cpu / seconds / report.threads, sim->comm->size, report.threads);
  }
  md_log_print(sim->log, "%s", run->result);
  MD_TRY(breakdown(run, &report, seconds));
  md_log_print(sim->log, "Engine: %s, %s%s\n", run->kind->name, report.isa ? report.isa : report.hardware,
               report.isa ? " instructions" : "");
  if (report.isa_note) md_log_print(sim->log, "%s\n", report.isa_note);
  if (!run->minimizes && !run->rerun)
    md_log_print(sim->log, "Rebins: %lld, one in %.1f steps\n", (long long)report.rebins,
                 report.rebins > 0 ? (double)report.steps / (double)report.rebins : (double)report.steps);
  if (report.downloads > 0) md_log_print(sim->log, "Downloads: %lld\n", (long long)report.downloads);
  MD_TRY(shares(run, &report));
  if (report.details) md_log_print(sim->log, "%s\n", report.details);
  return MD_OK;
}

/* The error of a stopped run: the reason, and how to continue. */
static md_status stopped(const md_run *run)
{
  const md_sim *sim = run->sim;
  const char *why = run->signal        ? md_stop_signal_name(run->signal)
                    : sim->stop->batch ? "the batch system's time limit"
                                       : "--walltime";
  const long long step = (long long)sim->model.step, left = llabs(run->last - sim->model.step);
  if (sim->stop->plain)
    return md_error(MD_STOPPED, "stopped by %s at step %lld, %lld steps before the end of this run", why,
                    step, left);
  if (run->rerun)
    return md_error(MD_RUNTIME, "stopped by %s in a rerun, after the snapshot of step %lld", why, step);
  if (run->verifies)
    return md_error(MD_RUNTIME,
                    "stopped by %s in verify, which writes nothing: the state before it is that of step %lld",
                    why, (long long)run->first);
  if (run->minimizes)
    return md_error(
        MD_RUNTIME,
        "stopped by %s in a minimisation, at step %lld: no restart is written there. With the same "
        "command and --resume the deck goes on from its last restart before, if there is one, and "
        "repeats the minimisation from its beginning; give it more time, or a smaller MAXITER",
        why, step);
  if (!md_h5_is_here())
    return md_error(MD_RUNTIME, "stopped by %s at step %lld without a restart, as there is no HDF5 here", why,
                    step);
  if (sim->bars_resume[0])
    return md_error(
        MD_RUNTIME,
        "stopped by %s at step %lld, %lld steps before the end of this run; the restart is %.800s: go on "
        "with read_restart in another deck, because --resume cannot skip %s",
        why, step, left, sim->restarts.last, sim->bars_resume);
  return md_error(
      MD_STOPPED,
      "stopped by %s at step %lld, %lld steps before the end of this run; the restart is %.900s: go on with "
      "the same command and --resume, or with read_restart in a deck",
      why, step, left, sim->restarts.last);
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
  MD_TRY(loop(run));
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
  if (!run->verifies) MD_TRY(summary(run, &report.timers, seconds));
  MD_TRY(md_comm_agree(sim->comm, md_log_status(sim->log)));
  return md_run_is_stopped(run) ? stopped(run) : MD_OK;
}

static void describe(const md_run *run)
{
  md_sim *sim = run->sim;
  const md_model *m = &sim->model;
  if (strcmp(run->kind->name, sim->engine->name) != 0)
    md_log_print(sim->log,
                 "Note: engine %s computes this run in place of %s, because a periodic side of the box is "
                 "%s\n",
                 run->kind->name, sim->engine->name,
                 md_engine_sides_most(sim->engine, &sim->options, sim->comm->size) == 0.5
                     ? "shorter than two cutoffs"
                     : "too short for it");
  md_log_print(sim->log, "Engine %s, %lld particles of %d type%s, cutoff %g, skin %g\n", run->kind->name,
               (long long)m->natoms, m->ntypes, m->ntypes == 1 ? "" : "s", m->cutoff, m->skin);
  md_log_print(sim->log, "Exact grids: position 2^%d, velocity 2^%d, force 2^%d, energy 2^%d, virial 2^%d\n",
               ilogb(m->grids.x), ilogb(m->grids.v), ilogb(m->grids.f), ilogb(m->grids.e), ilogb(m->grids.w));
  const md_resolution *r = &m->resolution;
  if (r->impulse > 0.0)
    md_log_print(
        sim->log,
        "Relative rounding: %.2g of a step's displacement, %.2g of a pair's impulse, %.2g of a velocity%s\n",
        r->drift, r->impulse, r->speed, m->wide ? "; momenta of two words" : "");
}

/* Prints the grid of ranks that was chosen for the engine. */
static void describe_grid(md_sim *sim)
{
  if (sim->comm->size == 1 || md_pair_is_all(&sim->model.pair)) return;
  int count[3], index[3];
  if (sim->comm->domains->bisectors(sim->comm, &sim->model.box)) {
    md_log_print(sim->log, "  %d domains by recursive bisection\n", sim->comm->size);
    return;
  }
  sim->comm->domains->grid(sim->comm, count, index);
  md_log_print(sim->log, "  %d by %d by %d MPI processor grid\n", count[0], count[1], count[2]);
}

/* Puts the particles on the grids of the prepared model, and moves them to the ranks that own them. */
static md_status place_particles(md_sim *sim)
{
  if (sim->resume)
    MD_TRY(md_resume_load(sim));
  else {
    MD_TRY(md_pair_velocities_check(sim));
    MD_TRY(md_comm_agree(sim->comm, md_model_enter(&sim->model, &sim->particles)));
  }
  if (!sim->resume) md_box_move_back(sim);
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
  MD_TRY(place_particles(sim));
  sim->broken = false;
  return MD_OK;
}

md_status md_run_renew(md_run *run)
{
  MD_TRY(md_run_prepare(run));
  return md_run_create_engine(run);
}

/* Has a run that ended with `status` left particles that are not those of a whole step? A fault of the deck that shows
 * before the first step leaves those of the beginning. */
static bool is_broken(md_run *run, md_status status)
{
  md_sim *sim = run->sim;
  md_error_record record;
  if (status == MD_OK || status == MD_STOPPED) return false;
  /* An engine that is to be made anew has left the particles, which a snapshot or an edit may have changed in part. */
  if (status != MD_USAGE || sim->model.step != run->first || !run->engine) return true;
  md_error_save(&record, status);
  const md_status download = md_comm_agree(sim->comm, run->kind->download(run->engine, NULL));
  (void)md_error_restore(&record);
  return download != MD_OK;
}

md_status md_run_execute(md_run *run)
{
  md_sim *sim = run->sim;
  md_model *model = &sim->model;
  MD_TRY(md_run_prepare(run));
  if (run->work == run_to_last) sim->history.run[sim->history.nrun - 1].model = md_restart_course_hash(model);
  run->first = model->step;
  if (!run->verifies) describe(run);
  MD_TRY(md_fix_vary(sim, 0));
  md_status status = md_run_create_engine(run);
  if (status == MD_OK) {
    if (!run->verifies) describe_grid(sim);
    status = run_engine(run);
    sim->broken = is_broken(run, status);
  }
  md_log_progress_end(sim->log);
  md_run_destroy_engine(run);
  md_kept_state_free(&run->kept);
  md_model_leave(model, &sim->particles);
  return status == MD_OK ? md_pair_velocities_mark(sim) : status;
}

bool md_run_is_left_out(md_sim *sim, const char *command)
{
  if (sim->halted != MD_HALT_ALL) return false;
  md_log_print(sim->log, "  %s is left out, because fix halt has ended the runs of this deck\n", command);
  return true;
}

/* How the words of the command run ask for a run. */
typedef struct run_words {
  int64_t n;           /* steps; negative: back */
  int64_t start, stop; /* of ramps; -1: not given */
  bool brief;          /* post no */
  int64_t every;       /* steps of a piece; 0: one piece */
  md_words commands;   /* after each piece */
} run_words;

/* Says before the first step what a resume would say after all of them. */
static void warn_of_resume(md_sim *sim)
{
  char text[256];
  const bool wanted = sim->restarts.every > 0 || sim->resuming || (sim->stop && sim->stop->limit > 0.0);
  if (!sim->bars_resume[0] || !wanted || sim->frame) return;
  snprintf(text, sizeof text,
           "it cannot go on with a run after %s, which it cannot skip; read_restart in another deck can",
           sim->bars_resume);
  md_sim_explain(sim, "--resume", text);
}

/* Completes the record of the present run, from which restarts and formulas take its end. */
static void note_run(md_sim *sim, int64_t last)
{
  md_run_record *record = &sim->history.run[sim->history.nrun - 1];
  record->last = last;
  record->computed = sim->computed;
  record->drawn = md_variables_drawn(sim->variables);
  md_faces_put(&sim->model.box, record->box);
}

/* Runs n steps. */
static md_status run_piece(md_sim *sim, int64_t n, const run_words *asked)
{
  md_model *model = &sim->model;
  md_run run = {.sim = sim,
                .whole_first = model->step,
                .last = model->step + n,
                .thermo_shown = -1,
                .work = run_to_last};
  run.brief = asked->brief;
  bool passed;
  sim->halted = MD_HALT_NONE;
  MD_TRY(md_sim_count(sim));
  MD_TRY(md_images_expect(sim, n != 0));
  MD_TRY(md_resume_begin(sim, run.whole_first, run.last, &passed));
  if (passed) return MD_OK;
  run.last = sim->history.run[sim->history.nrun - 1].last;
  warn_of_resume(sim);
  const bool edits = md_edits_due(sim, 0) != INT64_MAX;
  if (!sim->resume && n > 0) MD_TRY(md_edits_begin(sim));
  model->run_begin = asked->start >= 0 ? asked->start : run.whole_first;
  model->run_end = asked->stop >= 0 ? asked->stop : run.last;
  sim->run_first = run.whole_first;
  sim->run_last = run.last;
  sim->has_first_energy = false;
  const bool frame = sim->frame && md_frame_is_in(sim->frame, run.whole_first, run.last);
  int64_t from = run.whole_first;
  if (frame) {
    MD_TRY(md_frame_begin(sim, &from));
    run.last = sim->frame->step;
  }
  model->backwards = frame ? run.last < from : n < 0;
  const md_status status = md_run_execute(&run);
  model->backwards = false;
  MD_TRY(status);
  if (frame) MD_TRY(md_frame_end(sim));
  if (edits) ++sim->history.edits;
  note_run(sim, run.last);
  return MD_OK;
}

md_status md_run_steps(md_sim *sim, int64_t n)
{
  const run_words plain = {.n = n, .start = -1, .stop = -1};
  if (n < 0) MD_TRY(md_check_back(sim, "run -N"));
  return run_piece(sim, n, &plain);
}

/* Reads a step after the keyword words[*w] of the command run, and moves *w to the step. */
static md_status read_step(const md_words *words, int *w, int64_t *step)
{
  if (*w + 1 == words->n) return md_error(MD_USAGE, "run %s needs a step", words->word[*w]);
  const char *what = strcmp(words->word[*w], "start") == 0 ? "the step of run start" : "the step of run stop";
  return md_word_int64(words->word[++*w], what, 0, INT64_MAX, step);
}

static md_status read_upto(const md_sim *sim, run_words *asked)
{
  if (asked->n < 0) return md_error(MD_USAGE, "run %lld upto: there is no step below 0", (long long)asked->n);
  if (asked->n < sim->model.step)
    return md_error(MD_USAGE,
                    "run upto %lld: the present step %lld is already beyond it; `run -%lld` goes back there",
                    (long long)asked->n, (long long)sim->model.step, (long long)sim->model.step - asked->n);
  asked->n -= sim->model.step;
  return MD_OK;
}

/* Reads what stands after `every`, up to the end of the line. */
static md_status read_every(const md_words *words, int at, run_words *asked)
{
  if (at + 1 >= words->n)
    return md_error(MD_USAGE, "run every needs a number of steps, and commands in quotes, or NULL");
  MD_TRY(md_word_int64(words->word[at], "the steps of run every", 1, INT64_MAX, &asked->every));
  asked->commands = (md_words){words->n - at - 1, words->word + at + 1};
  if (asked->commands.n == 1 && strcmp(asked->commands.word[0], "NULL") == 0) asked->commands.n = 0;
  return MD_OK;
}

/* Reads pre or post and its value. */
static md_status read_pre_post(md_sim *sim, const md_words *words, int *w, run_words *asked)
{
  const bool pre = strcmp(words->word[*w], "pre") == 0;
  bool yes;
  if (*w + 1 == words->n) return md_error(MD_USAGE, "run %s needs yes or no", words->word[*w]);
  MD_TRY(md_word_bool(words->word[++*w], pre ? "run pre" : "run post", &yes));
  if (pre)
    md_sim_explain(sim, "run pre", "every run prepares itself");
  else
    asked->brief = !yes;
  return MD_OK;
}

static md_status read_run(md_sim *sim, const md_words *words, run_words *asked)
{
  *asked = (run_words){.start = -1, .stop = -1};
  MD_TRY(md_word_int64(words->word[0], "the number of steps", -INT64_MAX, INT64_MAX, &asked->n));
  for (int w = 1; w < words->n && asked->every == 0; ++w) {
    const char *word = words->word[w];
    if (strcmp(word, "upto") == 0)
      MD_TRY(read_upto(sim, asked));
    else if (strcmp(word, "start") == 0)
      MD_TRY(read_step(words, &w, &asked->start));
    else if (strcmp(word, "stop") == 0)
      MD_TRY(read_step(words, &w, &asked->stop));
    else if (strcmp(word, "pre") == 0 || strcmp(word, "post") == 0)
      MD_TRY(read_pre_post(sim, words, &w, asked));
    else if (strcmp(word, "every") == 0)
      MD_TRY(read_every(words, w + 1, asked));
    else
      return md_error(MD_USAGE,
                      "run: unknown keyword '%s'; accepted are upto, start STEP, stop STEP, pre yes|no, post "
                      "yes|no, every M NULL|'COMMAND' ...",
                      word);
  }
  return MD_OK;
}

static md_status check_steps(const md_sim *sim, const run_words *asked)
{
  const int64_t now = sim->model.step;
  if (asked->n < 0 && (asked->start >= 0 || asked->stop >= 0))
    return md_error(MD_USAGE,
                    "run -N has no start and stop: they are of ramps, and no fix with a ramp goes back");
  if (asked->n < -now)
    return md_error(MD_USAGE, "run %lld: from the present step %lld it would go to a step below 0",
                    (long long)asked->n, (long long)now);
  if (asked->n > 0 && now > INT64_MAX - asked->n)
    return md_error(MD_USAGE, "run %lld: the last step would be beyond 2^63 - 1, as the present one is %lld",
                    (long long)asked->n, (long long)now);
  if (asked->start > now || (asked->stop >= 0 && asked->stop < now + asked->n))
    return md_error(MD_USAGE, "run: the steps %lld to %lld must lie between those of start and stop",
                    (long long)now, (long long)(now + asked->n));
  return MD_OK;
}

static md_status run_commands(md_sim *sim, const md_words *commands)
{
  for (int k = 0; k < commands->n && !sim->script.quit; ++k) MD_TRY(md_deck_line(sim, commands->word[k]));
  return MD_OK;
}

/* Runs in pieces. A ramp goes over all of them. The piece that holds the rest is shorter. */
static md_status run_pieces(md_sim *sim, const run_words *asked)
{
  run_words whole = *asked;
  const bool back = asked->n < 0;
  if (whole.start < 0) whole.start = sim->model.step;
  if (whole.stop < 0) whole.stop = sim->model.step + asked->n;
  int64_t left = llabs(asked->n);
  do {
    const int64_t n = left < asked->every ? left : asked->every;
    left -= n;
    MD_TRY(md_sim_need_box(sim, "run every"));
    MD_TRY(run_piece(sim, back ? -n : n, &whole));
    MD_TRY(run_commands(sim, &asked->commands));
  } while (left > 0 && !sim->script.quit && sim->halted == MD_HALT_NONE);
  return MD_OK;
}

md_status md_do_run(md_sim *sim, const md_words *words)
{
  run_words asked;
  MD_TRY(md_sim_need_box(sim, "run"));
  MD_TRY(read_run(sim, words, &asked));
  MD_TRY(check_steps(sim, &asked));
  if (asked.n < 0) MD_TRY(md_check_back(sim, "run -N"));
  if (sim->planning.checking) {
    MD_TRY(md_images_expect(sim, asked.n != 0));
    MD_TRY(md_check_run(sim, asked.n));
    return run_commands(sim, &asked.commands);
  }
  if (sim->planning.on) return md_plan_print(sim);
  if (md_run_is_left_out(sim, "run")) return MD_OK;
  return asked.every > 0 ? run_pieces(sim, &asked) : run_piece(sim, asked.n, &asked);
}
