/* The program: exit status, and what it prints about itself. Only this file prints to the terminal directly, and
 * src/log.c.
 *
 *   myriad -in DECK [options]        run a deck
 *   myriad plan -in DECK [options]   the memory that the deck needs
 *   myriad check -in DECK [options]  everything in the deck that would fail
 *   myriad frame -in DECK --step S -o FILE [options]   the state of one step
 *   myriad info                      what this build and machine offer
 *   myriad help [COMMAND]            the commands of the deck language
 */
#include "common/base/timer.h"
#include "common/pair/pair.h"
#include "openmp/openmp.h"
#include "src/averages/output_fix.h"
#include "src/computes/host_compute.h"
#include "src/engines/engines.h"
#include "src/engines/gpu_library.h"
#include "src/engines/open_comm.h"
#include "src/hdf5/hdf5_file.h"
#include "src/library/session.h"
#include "src/library/version.h"
#include "src/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GPU_TEXT = 4096, RANKS_TEXT = 512 };

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
  const md_status hdf5 = md_h5_load();
  printf("\nRestarts and H5MD: %s%s\n", hdf5 == MD_OK ? md_h5->version : "not here: they need HDF5; ",
         hdf5 == MD_OK ? "" : md_error_text());
  const char *note = md_openmp_isa_note();
  printf("\nThis machine: %d threads, %s vector instructions\n", omp_get_max_threads(), md_openmp_isa());
  if (note) printf("%s\n", note);
  printf("Default engine: %s\n", md_engines[0].name);
  md_describe_ranks(ranks, sizeof ranks);
  printf("Ranks: %s\n", ranks);
  print_gpus();
  printf("\nLimits: %lld particles and ghosts a rank, ids up to 2^63 - 1, %d types\n",
         (long long)MD_PARTICLES_MAX, MD_TYPES_MAX);
  const md_particles flat = {.dim = 2}, deep = {.dim = 3};
  printf("Bytes per particle: %d in 2D, %d in 3D, and what the engine adds (see the end of a log)\n",
         md_particles_bytes(&flat), md_particles_bytes(&deep));
  return finish_printing();
}

/* Prints lines with an indentation of four blanks. */
static void print_indented(const char *text)
{
  for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
    printf("    %.*s\n", (int)strcspn(line, "\n"), line);
}

static bool is_wanted(const char *name, const char *only) { return !only || strcmp(name, only) == 0; }

static int print_style(const char *usage, const char *help)
{
  printf("\n  %s\n", usage);
  print_indented(help);
  return 1;
}

/* The functions below print the styles of a command, from their files, or only the style with the name `only`. They
 * return the number of styles that they printed. */
static int print_compute_styles(const char *only)
{
  int n = 0;
  for (int s = 0; s < MD_COMPUTE_KINDS; ++s) {
    const md_compute_style *style = md_compute_style_of((md_compute_kind)s);
    if (is_wanted(style->name, only)) n += print_style(style->usage, style->help);
  }
  const md_host_compute_style *host;
  for (int s = 0; (host = md_host_compute_style_at(s)); ++s)
    if (is_wanted(host->name, only)) n += print_style(host->usage, host->help);
  return n;
}

/* Prints what a fix keeps. */
static void print_kept(const md_fix_style *style)
{
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

static int print_fix_styles(const char *only)
{
  int n = 0;
  for (int s = 0; s < MD_FIX_KINDS; ++s) {
    const md_fix_style *style = md_fix_style_of((md_fix_kind)s);
    if (!is_wanted(style->name, only)) continue;
    n += print_style(style->usage, style->help);
    print_kept(style);
  }
  const md_output_fix_style *output;
  for (int s = 0; (output = md_output_fix_style_at(s)); ++s)
    if (is_wanted(output->name, only)) n += print_style(output->usage, output->help);
  return n;
}

static int print_styles(const md_command *command, const char *only)
{
  return command->handler == md_do_fix       ? print_fix_styles(only)
         : command->handler == md_do_compute ? print_compute_styles(only)
                                             : 0;
}

static void print_command(const md_command *command)
{
  printf("%s\n\n%s\n", command->usage, command->help);
  print_styles(command, NULL);
}

/* Prints the help of a style without its command. */
static md_status help_style(const char *name)
{
  if (print_fix_styles(name) + print_compute_styles(name) > 0) return finish_printing();
  for (int k = 0; k < MD_PAIR_KINDS; ++k) {
    const md_pair_style *style = md_pair_style_of((md_pair_kind)k);
    if (strcmp(style->name, name) != 0) continue;
    printf("\n  pair_style %s\n    %s\n    docs/pair-styles.md has its arguments and formula\n", name,
           style->summary);
    return finish_printing();
  }
  return md_command_unknown(name);
}

/* Prints docs/reference/commands.md: every command with its help, as `myriad help COMMAND` prints it. */
static md_status help_markdown(void)
{
  printf(
      "# Deck commands\n\n<!-- Written by `myriad help --markdown`; edit src/deck/commands.def, and "
      "common/*/fix_*.h and src/averages/fix_*.c, instead. -->\n\n"
      "Capitals stand for values, `[ ]` for what may be left out, `|` for a choice, `...` for repetition.\n"
      "[decks.md](../decks.md) explains how a deck is read. `myriad help COMMAND` prints one of these.\n\n");
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

/* Explains a command, a style, or a style of a command; all commands in a line each if name is NULL. */
static md_status help(const char *name, const char *style)
{
  if (name && strcmp(name, "--markdown") == 0) return help_markdown();
  if (!name) {
    fputs(md_command_line_usage, stdout);
    printf("\ndeck commands (myriad help COMMAND explains one):\n");
    for (int k = 0; k < md_commands_count; ++k) printf("  %s\n", md_commands[k].usage);
    return finish_printing();
  }
  const md_command *command = md_command_find(name);
  if (!command) return style ? md_command_unknown(name) : help_style(name);
  if (!style)
    print_command(command);
  else if (print_styles(command, style) == 0)
    return md_error(MD_USAGE, "help %s: there is no style '%.64s'; see myriad help %s", name, style, name);
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

/* Runs, plans or checks a deck. */
static md_status run(md_comm *comm, const md_command_line *line, bool *alone, int *quit)
{
  md_session session;
  md_status status = md_session_open(&session, comm, line);
  if (status == MD_OK) status = md_session_deck(&session, quit);
  return md_session_close(&session, status, alone);
}

/* Executes the command line. Only rank 0 prints information about the program. */
static md_status act(md_comm *comm, double started, int argc, char **argv, bool *alone, int *quit)
{
  const bool about = argc >= 2 && is(argv[1], "info", "--info"),
             helping = argc >= 2 && strcmp(argv[1], "help") == 0, speaks = comm->rank == 0;
  const int most = helping ? 4 : 2;
  if ((about || helping) && argc > most)
    return md_error(MD_USAGE, "%s: unexpected word '%s'; see myriad --help", argv[1], argv[most]);
  if (about) return speaks ? info() : MD_OK;
  if (helping) return speaks ? help(argc >= 3 ? argv[2] : NULL, argc >= 4 ? argv[3] : NULL) : MD_OK;
  for (int a = 1; a < argc; ++a) {
    if (is(argv[a], "-h", "--help") || strcmp(argv[a], "-help") == 0)
      return speaks ? help(NULL, NULL) : MD_OK;
    if (strcmp(argv[a], "--version") == 0) {
      if (speaks) printf("Myriad %s\n", MD_VERSION);
      return finish_printing();
    }
  }
  const bool plan = argc >= 2 && strcmp(argv[1], "plan") == 0,
             check = argc >= 2 && strcmp(argv[1], "check") == 0,
             frame = argc >= 2 && strcmp(argv[1], "frame") == 0;
  const int first = plan || check || frame ? 2 : 1;
  md_command_line line = {.plan = plan, .check = check, .frame = frame, .started = started};
  MD_TRY(md_command_line_read(argc - first, argv + first, &line));
  return run(comm, &line, alone, quit);
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
  md_stop_hold();
  open_standard_streams();
  wait_politely(argv);
  /* Commands that run nothing begin with a word, and a signal ends them. */
  md_stop_listen(argc >= 2 && (argv[1][0] == '-' || strcmp(argv[1], "frame") == 0));
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
  /* In one file with standard output, the message stands after what was printed before it. */
  fflush(stdout);
  if (status != MD_OK && (!comm || comm->rank == 0 || alone))
    md_put_message(stderr, status == MD_STOPPED ? "myriad: " : "myriad: error: ");
  if (comm) comm->destroy(comm);
  return status == MD_OK ? quit : (int)status;
}
