/* Opening a session, running the deck of a command line in it, and closing it; see session.h. */
#include "src/library/session.h"
#include "common/base/memory.h"
#include "common/base/open_file.h"
#include "common/base/timer.h"
#include "common/ranks/launched.h"
#include "common/ranks/reductions.h"
#include "src/averages/values.h"
#include "src/backwards/frame.h"
#include "src/commands/preview.h"
#include "src/deck/check.h"
#include "src/deck/deck.h"
#include "src/engines/gpu_library.h"
#include "src/engines/open_comm.h"
#include "src/formula/particle_values.h"
#include "src/library/version.h"
#include "src/plan.h"
#include "src/restart/resume.h"
#include "src/script/functions.h"

#include <errno.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The message may quote bytes of a damaged file. */
void md_put_message(FILE *file, const char *before)
{
  /* An empty message: the error was already printed. */
  if (md_error_text()[0] == '\0') return;
  char line[MD_ERROR_TEXT];
  snprintf(line, sizeof line, "%s", md_error_text());
  for (char *c = line; *c; ++c)
    if (*c == '\n' || *c == '\t' || *c == '\r') *c = '?';
  fputs(before, file);
  md_log_put_visibly(file, line);
  putc('\n', file);
}

static bool is(const char *word, const char *a, const char *b)
{
  return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

/* Registers the files that the command line names. */
static md_status use_files(md_file_uses *files, const md_command_line *c)
{
  const char *screen = c->screen_name ? c->screen_name : "none";
  if (!c->library)
    MD_TRY(strcmp(c->deck, "-") == 0 ? md_file_use_stream(files, MD_FILE_DECK, stdin)
                                     : md_file_use(files, MD_FILE_DECK, NULL, c->deck));
  if (!c->screen_name) MD_TRY(md_file_use_stream(files, MD_FILE_OUT, stdout));
  if (strcmp(screen, "none") != 0) MD_TRY(md_file_use(files, MD_FILE_SCREEN, NULL, screen));
  if (strcmp(c->log_name, "none") != 0) MD_TRY(md_file_use(files, MD_FILE_LOG, NULL, c->log_name));
  return MD_OK;
}

/* Opens the log. Only rank 0 has a log file and a screen. */
static md_status open_log(md_log *log, md_file_uses *files, const md_command_line *c, int rank)
{
  *log = (md_log){.echo_file = true};
  if (rank > 0) return MD_OK;
  MD_TRY(use_files(files, c));
  if (!c->screen_name) {
    log->screen = stdout;
    /* A launcher may give the first rank a terminal of its own, and pass on to a file what is written there. */
    log->live = isatty(STDOUT_FILENO) == 1 && !md_was_launched();
  } else if (strcmp(c->screen_name, "none") != 0) {
    log->screen = md_open_write(c->screen_name, false);
    if (!log->screen)
      return md_error(MD_RUNTIME, "cannot write the screen file %s: %s", c->screen_name,
                      md_open_reason(errno));
  }
  MD_TRY(md_log_open(log, c->log_name, c->resume ? "a" : "w",
                     md_file_is_shared(files, MD_FILE_LOG, c->log_name)));
  if (c->echo) {
    log->echo_screen = is(c->echo, "screen", "both");
    log->echo_file = is(c->echo, "log", "both");
  }
  return MD_OK;
}

/* Limits the threads to 4 per processor, at least 64. More threads only cost memory and time, and the system may
 * refuse thousands of them. */
static void set_threads(md_sim *sim, const md_command_line *c)
{
  enum { EACH = 4, LEAST = 64 };
  const int wanted = c->threads > 0 ? (int)c->threads : omp_get_max_threads();
  const int most = EACH * omp_get_num_procs() > LEAST ? EACH * omp_get_num_procs() : LEAST;
  if (wanted > most)
    md_log_print(sim->log, "Note: %d threads instead of the %d of %s, as there are %d processors\n", most,
                 wanted, c->threads > 0 ? "--threads" : "OMP_NUM_THREADS", omp_get_num_procs());
  omp_set_num_threads(wanted < most ? wanted : most);
  sim->options.threads = omp_get_max_threads();
}

/* Applies what the command line sets before the deck is read. */
static md_status set_up(md_sim *sim, const md_command_line *c)
{
  /* This call checks the variable that limits memory. A wrong value is an error here, before any work is done. */
  md_memory memory;
  MD_TRY(md_memory_look("", 1, &memory));
  sim->engine = c->kind;
  md_variables_set_function(sim->variables, md_script_function);
  md_variables_set_particles(sim->variables, &md_particle_values);
  md_variables_set_vectors(sim->variables, &md_value_vectors);
  sim->planning = (md_planning){.particles = c->particles, .ranks = c->ranks};
  set_threads(sim, c);
  if (c->gpu_naive) sim->options.gpu.neighbours = MD_GPU_ALL_PAIRS;
  for (int k = 0; k < c->npackage; ++k) {
    const md_status status = md_do_package(sim, &c->packages[k]);
    if (status != MD_OK) md_error_prefix("-pk: ");
    MD_TRY(status);
  }
  for (int p = 0; p < c->npreset; ++p) {
    MD_TRY(md_deck_check_same(sim, c->presets[p].name));
    for (int k = 0; k < c->presets[p].nvalue; ++k) MD_TRY(md_deck_check_same(sim, c->presets[p].value[k]));
    MD_TRY(
        md_variables_preset(sim->variables, c->presets[p].name, c->presets[p].nvalue, c->presets[p].value));
  }
  return c->plan ? md_plan_check(sim) : MD_OK;
}

/* For --resume: finds the restart. A second, temporary simulation searches the deck. */
static md_status find_restart(md_sim *sim, const md_command_line *c, FILE *deck, md_resume *resume)
{
  md_log silent = {0};
  md_sim probe;
  bool found = false;
  md_status status = md_comm_agree(sim->comm, md_sim_init(&probe));
  probe.log = &silent;
  probe.comm = sim->comm;
  if (status == MD_OK) status = set_up(&probe, c);
  if (status == MD_OK) status = md_resume_find(sim, &probe, deck, c->deck, resume, &found);
  md_sim_free(&probe);
  if (status == MD_OK && found) sim->resume = resume;
  return status;
}

/* Looks for outputs after the first run that cannot be written, or, for a frame, that have the frame's file. A second,
 * temporary simulation reads the deck. */
static md_status preview(md_sim *sim, const md_command_line *c, FILE *deck, md_error_record *found)
{
  md_log silent = {0};
  md_sim probe;
  md_status status = md_comm_agree(sim->comm, md_sim_init(&probe));
  probe.log = &silent;
  probe.comm = sim->comm;
  probe.printed = sim->printed;
  probe.frame = sim->frame;
  if (status == MD_OK) status = md_comm_agree(sim->comm, md_file_uses_new(&probe.files));
  if (status == MD_OK)
    status = md_comm_agree(sim->comm, sim->comm->rank == 0 ? use_files(probe.files, c) : MD_OK);
  if (status == MD_OK && c->frame) status = md_sim_use_file(&probe, MD_FILE_FRAME, NULL, c->output.word[0]);
  if (status == MD_OK) status = set_up(&probe, c);
  if (status == MD_OK) status = md_deck_preview(&probe, deck, c->deck, found);
  md_file_uses_free(probe.files);
  md_sim_free(&probe);
  if (status == MD_OK) sim->preview = found;
  return status;
}

/* Names the restart of a stopped run for a deck that names no restarts: the deck's name and `.restart`, in the
 * present folder. */
static void name_stop_file(md_sim *sim, const char *deck)
{
  const char *slash = strrchr(deck, '/');
  const char *name = slash ? slash + 1 : deck;
  snprintf(sim->restarts.stop, sizeof sim->restarts.stop, "%.240s.restart",
           strcmp(name, "-") == 0 ? "myriad" : name);
}

static md_status read_deck(md_sim *sim, const md_command_line *c)
{
  const char *name = c->deck;
  const bool standard_input = strcmp(name, "-") == 0;
  if (standard_input && sim->comm->size > 1)
    return md_error(MD_USAGE,
                    "standard input reaches rank 0 only: with several ranks, give the deck as a file");
  FILE *file = standard_input ? stdin : md_open_read(name);
  if (!file) return md_error(MD_RUNTIME, "cannot read the deck %s: %s", name, md_open_reason(errno));
  md_resume resume = {.path = ""};
  md_still still = {.step = c->step, .output = c->output};
  if (c->frame) sim->frame = &still;
  name_stop_file(sim, name);
  sim->resuming = c->resume;
  md_error_record found;
  md_status status = c->resume || (c->frame && md_h5_is_here()) ? find_restart(sim, c, file, &resume) : MD_OK;
  /* A pipe can be read once only. */
  const bool twice =
      !c->plan && !standard_input && lseek(fileno(file), 0, SEEK_CUR) >= 0 && fseek(file, 0, SEEK_SET) == 0;
  if (status == MD_OK && twice) status = preview(sim, c, file, &found);
  if (status == MD_OK) status = md_deck_run(sim, file, standard_input ? "standard input" : name);
  if (status == MD_OK && sim->resume)
    status =
        md_error(MD_USAGE, "--resume: the deck ended before the run in which %s was written", resume.path);
  if (status == MD_OK && c->frame) status = md_frame_check(sim);
  if (status == MD_OK && !sim->planning.on) status = md_sim_end_observers(sim);
  sim->resume = NULL;
  sim->frame = NULL;
  sim->preview = NULL;
  md_restart_free(&resume.restart);
  if (!standard_input) fclose(file);
  if (status != MD_OK && sim->log->file)
    md_put_message(sim->log->file, status == MD_STOPPED ? "STOPPED: " : "ERROR: ");
  return status;
}

/* Reads the deck for `plan` or `check`. */
static md_status examine_deck(md_sim *sim, const md_command_line *c)
{
  md_check check;
  md_check_begin(&check, sim, c->check);
  md_status status = read_deck(sim, c);
  if (status == MD_OK)
    status = c->check ? md_check_print(&check, sim->log) : md_check_status(&check, sim->log);
  /* A deck without a run is planned at its end. */
  if (status == MD_OK && c->plan && !sim->planning.done) status = md_plan_print(sim);
  md_check_free(&check);
  sim->check = NULL;
  return status == MD_OK ? md_log_status(sim->log) : status;
}

static md_status print_end(md_sim *sim, double wall)
{
  const long seconds = (long)wall;
  if (sim->log->file) md_log_print(sim->log, "log: %s\n", sim->log->file_name);
  md_log_print(sim->log, "Total wall time: %ld:%02ld:%02ld\n", seconds / 3600, seconds / 60 % 60,
               seconds % 60);
  return md_log_status(sim->log);
}

md_status md_session_deck(md_session *session, int *quit)
{
  md_sim *sim = &session->sim;
  const md_command_line *c = session->line;
  md_status status;
  if (md_command_line_runs_nothing(c)) {
    status = examine_deck(sim, c);
  } else {
    const double started = md_time();
    status = read_deck(sim, c);
    if (status == MD_OK) status = print_end(sim, md_time() - started);
  }
  /* The status of `quit` is that of a run. */
  *quit = md_command_line_runs_nothing(c) ? 0 : sim->script.status;
  return status;
}

static md_status open_simulation(md_session *session)
{
  const md_command_line *c = session->line;
  md_sim *sim = &session->sim;
  const md_status status = md_sim_init(sim);
  session->open = true;
  sim->log = &session->log;
  sim->comm = session->comm;
  session->comm->transports = md_gpu_library_transport();
  sim->stop = &session->stop;
  sim->files = session->files;
  sim->printed = &session->printed;
  MD_TRY(status);
  md_log_print(&session->log, "Myriad %s\n", MD_VERSION);
  return set_up(sim, c);
}

md_status md_session_open(md_session *session, md_comm *comm, const md_command_line *line)
{
  *session = (md_session){.comm = comm, .line = line};
  session->stop = (md_stop){.started = line->started, .limit = line->walltime};
  MD_TRY(md_comm_agree(comm, md_file_uses_new(&session->files)));
  if (line->library) md_file_uses_show(session->files);
  MD_TRY(md_comm_agree(comm, open_log(&session->log, session->files, line, comm->rank)));
  if (!md_command_line_runs_nothing(line) && !line->library)
    md_stop_begin(&session->stop, !line->no_walltime && md_h5_is_here());
  session->stop.plain = line->frame;
  return open_simulation(session);
}

md_status md_session_close(md_session *session, md_status status, bool *alone)
{
  *alone = false;
  if (session->open) {
    if (status == MD_OK) status = md_sim_end_observers(&session->sim);
    /* Closing shared files is collective, so all ranks must reach this point. */
    status = session->comm->finalise(session->comm, status, alone);
    if (!*alone) md_sim_free(&session->sim);
  }
  md_error_record first;
  md_error_save(&first, status);
  const md_status closed = md_log_close(&session->log);
  md_file_uses_free(session->files);
  md_printed_free(&session->printed);
  return status == MD_OK ? closed : md_error_restore(&first);
}
