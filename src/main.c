/* The program: command line, log files and exit status. Only this file prints to the terminal directly.
 *
 *   myriad -in DECK [options]        run a deck
 *   myriad plan -in DECK [options]   the memory that the deck needs
 *   myriad check -in DECK [options]  everything in the deck that would fail
 *   myriad info                      what this build and machine offer
 *   myriad help [COMMAND]            the commands of the deck language
 */
#include "common/base/memory.h"
#include "common/base/open_file.h"
#include "common/ranks/reductions.h"
#include "openmp/openmp.h"
#include "src/averages/output_fix.h"
#include "src/averages/values.h"
#include "src/commands/preview.h"
#include "src/computes/host_compute.h"
#include "src/deck/check.h"
#include "src/deck/deck.h"
#include "src/engines/engines.h"
#include "src/engines/gpu_library.h"
#include "src/engines/open_comm.h"
#include "src/formula/particle_values.h"
#include "src/plan.h"
#include "src/restart/resume.h"
#include "src/script/functions.h"
#include "src/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef MD_VERSION
#define MD_VERSION "0.1"
#endif

enum { PRESETS_MAX = 256, PACKAGES_MAX = 16, GPU_TEXT = 4096, RANKS_TEXT = 512 };

typedef struct preset {
  const char *name;
  char *const *value;
  int nvalue;
} preset;

typedef struct command_line {
  const char *deck; /* empty: not given */
  const char *log_name, *screen_name, *echo;
  const char *engine;
  const md_engine_kind *kind; /* the engine named `engine`, or the GPU engine with --gpu-naive */
  bool gpu_naive;
  bool plan;
  bool check;
  bool resume;
  double walltime;   /* seconds; 0: not given */
  bool no_walltime;  /* --walltime none: the limit of the batch system is ignored too */
  double started;    /* value of md_time() when the program started */
  int64_t particles; /* of --particles; 0: not given */
  int64_t ranks;     /* of --ranks; 0: not given */
  int64_t threads;
  int *quit; /* gets the status of the command quit */
  int npreset;
  preset presets[PRESETS_MAX];
  int npackage;
  md_words packages[PACKAGES_MAX]; /* words of each package command */
} command_line;

static const char usage[] =
    "usage: myriad -in DECK [options]     run a deck (an input script in LAMMPS's language)\n"
    "       mpirun -n P myriad -in DECK [options]\n"
    "                                     the same, by P ranks\n"
    "       myriad plan -in DECK [options] [--particles N] [--ranks P]\n"
    "                                     the memory an engine needs for a deck, or for N such particles,\n"
    "                                     and what P ranks would tell one another\n"
    "       myriad check -in DECK [options]\n"
    "                                     every line that would not run, without running\n"
    "       myriad info                   what this build and machine offer\n"
    "       myriad help [COMMAND]         the commands of the deck language; help --markdown: all of them\n"
    "options:\n"
    "  -in, -i FILE                 the deck; - reads standard input\n"
    "  -var, -v NAME VALUE...       set a variable, before the deck does\n"
    "  --engine NAME                openmp (default), gpu or naive; myriad info lists those of this build\n"
    "  --gpu-naive                  with --engine naive: all pairs on the GPU\n"
    "  -package, -pk WORDS...       a package command before the deck, as in -pk gpu precision mixed\n"
    "  --threads N                  threads of the openmp engine (default: OMP_NUM_THREADS, or all cores)\n"
    "  -log, -l FILE|none           the log file (default log.myriad)\n"
    "  -screen, -sc FILE|none       what goes to the screen otherwise\n"
    "  -echo, -e none|screen|log|both   where deck lines are repeated (default log)\n"
    "  --resume                     go on from the deck's newest good restart, or begin if there is none\n"
    "  --walltime H:MM:SS|none      end before so much time has passed, with a restart and status 85; "
    "without it,\n"
    "                               before the end of a Slurm job\n"
    "  -h, --help, --version\n"
    "exit status: 0 done, 1 runtime error, 2 usage or deck error, 3 physics error, 85 stopped by a signal or "
    "a limit\n"
    "of time, with a restart: run it again with --resume; the deck's own with quit\n";

/* Prints the present error message on one line. The message may quote bytes of a damaged file. */
static void put_message(FILE *file, const char *before)
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

/* Output may still be in a buffer, and the disk may be full. */
static md_status finish_printing(void)
{
  if (fflush(stdout) == 0 && !ferror(stdout)) return MD_OK;
  return md_error(MD_RUNTIME, "cannot write to standard output: %s", strerror(errno));
}

static bool is(const char *word, const char *a, const char *b)
{
  return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

/* The number of words from argv[from] up to the next option. A value may be a negative number. */
static int values(int argc, char *const *argv, int from)
{
  int n = 0;
  while (from + n < argc && !(argv[from + n][0] == '-' && argv[from + n][1] != '\0' &&
                              !strchr("0123456789.", argv[from + n][1])))
    ++n;
  return n;
}

/* The address for the value of a text option. NULL: there is no such option. */
static const char **text_option(command_line *c, const char *word)
{
  return is(word, "-in", "-i") || is(word, "--in", "-in")                ? &c->deck
         : is(word, "-log", "-l") || is(word, "--log", "-log")           ? &c->log_name
         : is(word, "-screen", "-sc") || is(word, "--screen", "-screen") ? &c->screen_name
         : is(word, "-echo", "-e") || is(word, "--echo", "-echo")        ? &c->echo
         : is(word, "--engine", "-engine")                               ? &c->engine
                                                                         : NULL;
}

static md_status set_walltime(command_line *c, const char *value)
{
  c->no_walltime = strcmp(value, "none") == 0;
  c->walltime = 0.0;
  return c->no_walltime ? MD_OK : md_stop_read_time(value, &c->walltime);
}

static md_status one_value(command_line *c, const char *word, const char *value)
{
  const char **text = text_option(c, word);
  const bool threads = is(word, "--threads", "-threads"), particles = is(word, "--particles", "-particles"),
             ranks = is(word, "--ranks", "-ranks"), walltime = is(word, "--walltime", "-walltime");
  if (!text && !threads && !particles && !ranks && !walltime)
    return md_error(MD_USAGE, "unknown option `%s`; see myriad --help", word);
  if ((particles || ranks) && !c->plan)
    return md_error(MD_USAGE, "%s goes with myriad plan; see myriad --help", word);
  if (!value) return md_error(MD_USAGE, "option %s needs a value; see myriad --help", word);
  if (walltime) return set_walltime(c, value);
  if (threads) return md_word_int64(value, "--threads", 1, INT_MAX, &c->threads);
  if (particles) return md_word_int64(value, "--particles", 1, INT64_MAX, &c->particles);
  if (ranks) return md_word_int64(value, "--ranks", 1, 1 << 24, &c->ranks);
  *text = value;
  return MD_OK;
}

/* Reads an option with any number of values. *used is the number of words that the option took, or 0 if `argv[0]`
 * is no such option. */
static md_status many_values(command_line *c, int argc, char **argv, int *used)
{
  const char *word = argv[0];
  const bool package = is(word, "-package", "-pk") || is(word, "--package", "-pk");
  *used = 0;
  if (is(word, "--gpu-naive", "-gpu-naive") || is(word, "--resume", "-resume")) {
    *(strstr(word, "resume") ? &c->resume : &c->gpu_naive) = true;
    *used = 1;
    return MD_OK;
  }
  if (!package && !is(word, "-var", "-v") && !is(word, "--var", "-var")) return MD_OK;
  const int n = values(argc, argv, 1);
  *used = 1 + n;
  if (package) {
    if (n < 1)
      return md_error(MD_USAGE, "%s takes the words of a package command: gpu KEYWORD VALUE...", word);
    if (c->npackage == PACKAGES_MAX) return md_error(MD_USAGE, "more than %d -pk options", PACKAGES_MAX);
    c->packages[c->npackage++] = (md_words){n, argv + 1};
    return MD_OK;
  }
  if (n < 2) return md_error(MD_USAGE, "-var takes a name and at least one value");
  if (c->npreset == PRESETS_MAX) return md_error(MD_USAGE, "more than %d -var options", PRESETS_MAX);
  c->presets[c->npreset++] = (preset){argv[1], argv + 2, n - 1};
  return MD_OK;
}

static md_status unknown_engine(const char *name)
{
  char accepted[256] = "";
  for (int k = 0; k < md_engines_count; ++k) {
    const size_t used = strlen(accepted);
    snprintf(accepted + used, sizeof accepted - used, "%s%s", k > 0 ? ", " : "", md_engines[k].name);
  }
  return md_error(MD_USAGE, "there is no engine `%s`; accepted are %s", name, accepted);
}

static md_status choose_engine(command_line *c)
{
  if (c->gpu_naive && strcmp(c->engine, "naive") != 0)
    return md_error(MD_USAGE, "--gpu-naive is the naive engine's work on the GPU: say --engine naive, not %s",
                    c->engine);
  const char *name = c->gpu_naive ? "gpu" : c->engine;
  const md_engine_entry *entry = md_engine_find(name);
  if (!entry) return unknown_engine(name);
  const md_status status = md_engine_get(entry, &c->kind);
  if (status != MD_OK) md_error_prefix("the engine %s is not here: ", name);
  return status;
}

/* "plan" or "check", or NULL if the deck is to be run. */
static const char *runs_nothing(const command_line *c)
{
  return c->plan ? "plan" : c->check ? "check" : NULL;
}

static md_status check_going_on(const command_line *c)
{
  if (runs_nothing(c) && (c->resume || c->walltime > 0.0))
    return md_error(MD_USAGE, "myriad %s runs nothing: leave --resume and --walltime out", runs_nothing(c));
  if (c->resume) MD_TRY(md_h5_need("--resume"));
  if (c->walltime > 0.0) MD_TRY(md_h5_need("--walltime"));
  if (c->resume && strcmp(c->deck, "-") == 0)
    return md_error(MD_USAGE, "--resume reads the deck twice: give it as a file, not as standard input");
  return MD_OK;
}

static md_status check_options(const command_line *c)
{
  if (c->deck[0] == '\0')
    return md_error(MD_USAGE, "no deck: say myriad %s%s-in FILE; see myriad --help",
                    runs_nothing(c) ? runs_nothing(c) : "", runs_nothing(c) ? " " : "");
  if (c->echo && !is(c->echo, "screen", "both") && !is(c->echo, "log", "none"))
    return md_error(MD_USAGE, "-echo takes none, screen, log or both, not `%s`", c->echo);
  if (runs_nothing(c) && c->log_name && strcmp(c->log_name, "none") != 0)
    return md_error(MD_USAGE, "myriad %s writes no log file: leave -log %s out", runs_nothing(c),
                    c->log_name);
  return MD_OK;
}

/* argv[0, argc) holds the options only. */
static md_status parse(int argc, char **argv, command_line *c)
{
  for (int a = 0; a < argc;) {
    int used;
    MD_TRY(many_values(c, argc - a, argv + a, &used));
    a += used;
    if (used > 0) continue;
    MD_TRY(one_value(c, argv[a], a + 1 < argc ? argv[a + 1] : NULL));
    a += 2;
  }
  MD_TRY(check_options(c));
  MD_TRY(check_going_on(c));
  if (!c->log_name) c->log_name = runs_nothing(c) ? "none" : "log.myriad";
  return choose_engine(c);
}

/* Registers the files that the command line names. */
static md_status use_files(md_file_uses *files, const command_line *c)
{
  const char *screen = c->screen_name ? c->screen_name : "none";
  MD_TRY(strcmp(c->deck, "-") == 0 ? md_file_use_stream(files, MD_FILE_DECK, stdin)
                                   : md_file_use(files, MD_FILE_DECK, NULL, c->deck));
  if (!c->screen_name) MD_TRY(md_file_use_stream(files, MD_FILE_OUT, stdout));
  if (strcmp(screen, "none") != 0) MD_TRY(md_file_use(files, MD_FILE_SCREEN, NULL, screen));
  if (strcmp(c->log_name, "none") != 0) MD_TRY(md_file_use(files, MD_FILE_LOG, NULL, c->log_name));
  return MD_OK;
}

/* Opens the log. Only rank 0 has a log file and a screen. */
static md_status open_log(md_log *log, md_file_uses *files, const command_line *c, int rank)
{
  *log = (md_log){.echo_file = true};
  if (rank > 0) return MD_OK;
  MD_TRY(use_files(files, c));
  if (!c->screen_name) {
    log->screen = stdout;
    log->live = isatty(STDOUT_FILENO) == 1;
  } else if (strcmp(c->screen_name, "none") != 0) {
    log->screen = md_open_write(c->screen_name, false);
    if (!log->screen)
      return md_error(MD_RUNTIME, "cannot write the screen file %s: %s", c->screen_name,
                      md_open_reason(errno));
  }
  MD_TRY(md_log_open(log, c->log_name, c->resume ? "a" : "w"));
  if (c->echo) {
    log->echo_screen = is(c->echo, "screen", "both");
    log->echo_file = is(c->echo, "log", "both");
  }
  return MD_OK;
}

static void close_log(md_log *log)
{
  if (log->file) fclose(log->file);
  if (log->screen && log->screen != stdout) fclose(log->screen);
}

/* Limits the threads to 4 per processor, at least 64. More threads only cost memory and time, and the system may
 * refuse thousands of them. */
static void set_threads(md_sim *sim, const command_line *c)
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
static md_status set_up(md_sim *sim, const command_line *c)
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
static md_status find_restart(md_sim *sim, const command_line *c, FILE *deck, md_resume *resume)
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

/* Looks for outputs after the first run that cannot be written. A second, temporary simulation reads the deck. */
static md_status preview(md_sim *sim, const command_line *c, FILE *deck, md_error_record *found)
{
  md_log silent = {0};
  md_sim probe;
  md_status status = md_comm_agree(sim->comm, md_sim_init(&probe));
  probe.log = &silent;
  probe.comm = sim->comm;
  if (status == MD_OK) status = md_comm_agree(sim->comm, md_file_uses_new(&probe.files));
  if (status == MD_OK)
    status = md_comm_agree(sim->comm, sim->comm->rank == 0 ? use_files(probe.files, c) : MD_OK);
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

static md_status read_deck(md_sim *sim, const command_line *c)
{
  const char *name = c->deck;
  const bool standard_input = strcmp(name, "-") == 0;
  if (standard_input && sim->comm->size > 1)
    return md_error(MD_USAGE,
                    "standard input reaches rank 0 only: with several ranks, give the deck as a file");
  FILE *file = standard_input ? stdin : md_open_read(name);
  if (!file) return md_error(MD_RUNTIME, "cannot read the deck %s: %s", name, md_open_reason(errno));
  md_resume resume = {.path = ""};
  name_stop_file(sim, name);
  sim->resuming = c->resume;
  md_error_record found;
  md_status status = c->resume ? find_restart(sim, c, file, &resume) : MD_OK;
  /* A pipe can be read once only. */
  const bool twice =
      !c->plan && !standard_input && lseek(fileno(file), 0, SEEK_CUR) >= 0 && fseek(file, 0, SEEK_SET) == 0;
  if (status == MD_OK && twice) status = preview(sim, c, file, &found);
  if (status == MD_OK) status = md_deck_run(sim, file, standard_input ? "standard input" : name);
  if (status == MD_OK && sim->resume)
    status =
        md_error(MD_USAGE, "--resume: the deck ended before the run in which %s was written", resume.path);
  sim->resume = NULL;
  sim->preview = NULL;
  md_restart_free(&resume.restart);
  if (!standard_input) fclose(file);
  if (status != MD_OK && sim->log->file)
    put_message(sim->log->file, status == MD_STOPPED ? "STOPPED: " : "ERROR: ");
  return status;
}

/* Reads the deck for `plan` or `check`. */
static md_status examine_deck(md_sim *sim, const command_line *c)
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

static md_status run_deck(md_sim *sim, const command_line *c)
{
  MD_TRY(set_up(sim, c));
  if (runs_nothing(c)) return examine_deck(sim, c);
  const double started = md_time();
  MD_TRY(read_deck(sim, c));
  const long seconds = (long)(md_time() - started);
  if (sim->log->file) md_log_print(sim->log, "log: %s\n", sim->log->file_name);
  md_log_print(sim->log, "Total wall time: %ld:%02ld:%02ld\n", seconds / 3600, seconds / 60 % 60,
               seconds % 60);
  return md_log_status(sim->log);
}

static md_status run(md_comm *comm, const command_line *c, bool *alone)
{
  md_log log = {0};
  md_file_uses *files = NULL;
  md_status status = md_comm_agree(comm, md_file_uses_new(&files));
  if (status == MD_OK) status = md_comm_agree(comm, open_log(&log, files, c, comm->rank));
  if (status == MD_OK) {
    md_sim sim;
    status = md_sim_init(&sim);
    md_stop stop = {.started = c->started, .limit = c->walltime};
    if (!runs_nothing(c)) md_stop_begin(&stop, !c->no_walltime && md_h5);
    sim.log = &log;
    sim.comm = comm;
    comm->transports = md_gpu_library_transport();
    sim.stop = &stop;
    sim.files = files;
    if (status == MD_OK) {
      md_log_print(&log, "Myriad %s\n", MD_VERSION);
      status = run_deck(&sim, c);
    }
    /* Closing shared files is collective, so all ranks must reach this point. */
    status = comm->finalise(comm, status, alone);
    *c->quit = sim.script.status;
    if (!*alone) md_sim_free(&sim);
  }
  close_log(&log);
  md_file_uses_free(files);
  return status;
}

static void print_engines(void)
{
  printf("Engines:\n");
  for (int k = 0; k < md_engines_count; ++k) {
    const md_engine_kind *kind;
    const bool here = md_engine_get(&md_engines[k], &kind) == MD_OK;
    printf("  %-8s %s%s\n", md_engines[k].name,
           here ? "" : "not here: ", here ? kind->summary : md_error_text());
  }
}

static void print_gpus(void)
{
  char text[GPU_TEXT];
  const md_gpu_library *library;
  if (md_gpu_library_load(&library) != MD_OK) return;
  library->describe(text, sizeof text);
  printf("%s", text);
}

static md_status info(void)
{
  char ranks[RANKS_TEXT];
  printf("Myriad %s\n\n", MD_VERSION);
  print_engines();
  printf("\nPair styles:\n");
  for (int k = 0; k < MD_PAIR_KINDS; ++k) {
    const md_pair_style *style = md_pair_style_of((md_pair_kind)k);
    printf("  %-10s %s\n", style->name, style->summary);
  }
  printf("\nRestarts and H5MD: %s\n", md_h5 ? md_h5->version : "not in this build: they need HDF5");
  printf("\nThis machine: %d threads, %s vector instructions\n", omp_get_max_threads(), md_openmp_isa());
  printf("Default engine: %s\n", md_engines[0].name);
  md_describe_ranks(ranks, sizeof ranks);
  printf("Ranks: %s\n", ranks);
  print_gpus();
  printf("\nLimits: %lld particles and ghosts a rank, ids up to 2^63 - 1, %d types\n",
         (long long)MD_PARTICLES_MAX, MD_TYPES_MAX);
  printf("Bytes per particle: %d in 2D, %d in 3D, and what the engine adds (see the end of a log)\n",
         md_particles_bytes(2, false, false, false), md_particles_bytes(3, false, false, false));
  return finish_printing();
}

/* Prints lines with an indentation of four blanks. */
static void print_indented(const char *text)
{
  for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
    printf("    %.*s\n", (int)strcspn(line, "\n"), line);
}

/* The styles of the command compute, from their files. */
static void print_compute_styles(void)
{
  for (int s = 0; s < MD_COMPUTE_KINDS; ++s) {
    const md_compute_style *style = md_compute_style_of((md_compute_kind)s);
    printf("\n  %s\n", style->usage);
    print_indented(style->help);
  }
  const md_host_compute_style *host;
  for (int s = 0; (host = md_host_compute_style_at(s)); ++s) {
    printf("\n  %s\n", host->usage);
    print_indented(host->help);
  }
}

static void print_output_fixes(void)
{
  const md_output_fix_style *style;
  for (int s = 0; (style = md_output_fix_style_at(s)); ++s) {
    printf("\n  %s\n", style->usage);
    print_indented(style->help);
  }
}

/* The styles of the command fix, from their files. */
static void print_fix_styles(void)
{
  for (int s = 0; s < MD_FIX_KINDS; ++s) {
    const md_fix_style *style = md_fix_style_of((md_fix_kind)s);
    printf("\n  %s\n", style->usage);
    print_indented(style->help);
    const char *const kept[] = {style->conserves_momentum ? "conserves momentum" : NULL,
                                style->conserves_energy ? "conserves energy" : NULL,
                                style->reversible ? "reversible" : NULL};
    const char *between = "    ";
    for (int k = 0; k < 3; ++k)
      if (kept[k]) {
        printf("%s%s", between, kept[k]);
        between = ", ";
      }
    if (between[0] == ',') printf("\n");
  }
}

static void print_command(const md_command *command)
{
  printf("%s\n\n%s\n", command->usage, command->help);
  if (command->handler == md_do_fix) {
    print_fix_styles();
    print_output_fixes();
  }
  if (command->handler == md_do_compute) print_compute_styles();
}

/* Prints docs/commands.md: every command with its help, as `myriad help COMMAND` prints it. */
static md_status help_markdown(void)
{
  printf(
      "# Deck commands\n\n<!-- Written by `myriad help --markdown`; edit src/deck/commands.def, and "
      "common/fix/fix_*.h, common/force/fix_*.h and src/averages/fix_*.c, instead. -->\n\n"
      "Capitals stand for values, `[ ]` for what may be left out, `|` for a choice, `...` for repetition.\n"
      "[decks.md](decks.md) explains how a deck is read. `myriad help COMMAND` prints one of these.\n\n");
  for (int k = 0; k < md_commands_count; ++k)
    printf("%s[%s](#%s)", k > 0 ? " ·\n" : "", md_commands[k].name, md_commands[k].name);
  putchar('\n');
  for (int k = 0; k < md_commands_count; ++k) {
    printf("\n## %s\n\n```text\n", md_commands[k].name);
    print_command(&md_commands[k]);
    printf("```\n");
  }
  return finish_printing();
}

static md_status help(const char *name)
{
  if (name && strcmp(name, "--markdown") == 0) return help_markdown();
  if (!name) {
    fputs(usage, stdout);
    printf("\ndeck commands (myriad help COMMAND explains one):\n");
    for (int k = 0; k < md_commands_count; ++k) printf("  %s\n", md_commands[k].usage);
    return finish_printing();
  }
  const md_command *command = md_command_find(name);
  if (!command) return md_command_unknown(name);
  print_command(command);
  return finish_printing();
}

/* Makes the OpenMP runtime spin only briefly while threads wait for each other. Long spinning takes processor time
 * from the very threads that are awaited if the machine has other work: a run can become a hundred times slower. A
 * short spin is as fast on an idle machine. A runtime reads these settings before main starts, so this function
 * sets them, unless the user did, and starts the program again. If that fails, the program runs with the runtime's
 * own settings. */
static void wait_politely(char **argv)
{
  if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || getenv("KMP_BLOCKTIME")) return;
  if (setenv("GOMP_SPINCOUNT", "1000", 1) != 0 || setenv("KMP_BLOCKTIME", "1", 1) != 0) return;
  execv("/proc/self/exe", argv);
}

/* Executes the command line. Only rank 0 prints information about the program. */
static md_status act(md_comm *comm, double started, int argc, char **argv, bool *alone, int *quit)
{
  const bool about = argc >= 2 && is(argv[1], "info", "--info"),
             helping = argc >= 2 && strcmp(argv[1], "help") == 0, speaks = comm->rank == 0;
  const int most = helping ? 3 : 2;
  if ((about || helping) && argc > most)
    return md_error(MD_USAGE, "%s: unexpected word `%s`; see myriad --help", argv[1], argv[most]);
  if (about) return speaks ? info() : MD_OK;
  if (helping) return speaks ? help(argc >= 3 ? argv[2] : NULL) : MD_OK;
  for (int a = 1; a < argc; ++a) {
    if (is(argv[a], "-h", "--help") || strcmp(argv[a], "-help") == 0) return speaks ? help(NULL) : MD_OK;
    if (strcmp(argv[a], "--version") == 0) {
      if (speaks) printf("Myriad %s\n", MD_VERSION);
      return finish_printing();
    }
  }
  const bool plan = argc >= 2 && strcmp(argv[1], "plan") == 0,
             check = argc >= 2 && strcmp(argv[1], "check") == 0;
  const int first = plan || check ? 2 : 1;
  command_line c = {.deck = "",
                    .engine = md_engines[0].name,
                    .plan = plan,
                    .check = check,
                    .started = started,
                    .quit = quit};
  MD_TRY(parse(argc - first, argv + first, &c));
  return run(comm, &c, alone);
}

/* Opens standard streams that were closed when the program started. Otherwise the next opened files would get
 * their numbers and be mistaken for them. */
static void open_standard_streams(void)
{
  for (int file = STDIN_FILENO; file <= STDERR_FILENO; ++file)
    if (fcntl(file, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) < 0) return;
}

int main(int argc, char **argv)
{
  const double started = md_time();
  open_standard_streams();
  wait_politely(argv);
  /* A file larger than `ulimit -f` then gives a write error, like a full disk, and not a signal. */
  signal(SIGXFSZ, SIG_IGN);
  /* Lines are written in one piece, because a launcher may print between the pieces of a message. */
  setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
  md_comm *comm = NULL;
  bool alone = false;
  int quit = 0;
  md_status status = md_open_comm(&comm);
  if (status == MD_OK) status = act(comm, started, argc, argv, &alone, &quit);
  if (comm && !alone) status = comm->finalise(comm, status, &alone);
  if (status != MD_OK && (!comm || comm->rank == 0 || alone))
    put_message(stderr, status == MD_STOPPED ? "myriad: " : "myriad: error: ");
  if (comm) comm->destroy(comm);
  return status == MD_OK ? quit : (int)status;
}
