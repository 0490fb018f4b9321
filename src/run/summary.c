/* The lines of a run about itself; see summary.h. */
#include "src/run/summary.h"
#include "common/ranks/domains.h"
#include "common/ranks/reductions.h"
#include "src/engines/engines.h"
#include "src/hdf5/hdf5_file.h"
#include "src/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The relative rounding from which on the log has a note: that of forces 300 times apart. */
#define ROUGH 2e-9

void md_run_describe(const md_run *run)
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
  if (!(r->impulse > 0.0)) return;
  md_log_print(
      sim->log,
      "Relative rounding: %.2g of a step's displacement, %.2g of a pair's impulse, %.2g of a velocity%s\n",
      r->drift, r->weakest, r->speed, m->wide ? "; momenta of two words" : "");
  if (r->weakest > ROUGH || r->speed > ROUGH)
    md_log_print(
        sim->log,
        "Note: the forces of pairs of types and bonds are so far apart that the weakest impulses are "
        "rounded by up to %.1g of themselves, and the velocities of the lightest type by up to %.1g\n",
        r->weakest, r->speed);
}

void md_run_describe_grid(md_sim *sim)
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

md_status md_run_announce_memory(md_run *run)
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

md_status md_run_summary(const md_run *run, const md_timers *timers, double seconds)
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

md_status md_run_stopped(const md_run *run)
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
