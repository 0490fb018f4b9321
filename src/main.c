/* The program: command line, log files, and the exit status. Only this file prints to the terminal by itself.
 *
 *   myriad -in DECK [options]      run a deck
 *   myriad info                    what this build and machine offer
 *   myriad help [COMMAND]          the commands of the deck language
 */
#include "openmp/openmp.h"
#include "src/deck.h"
#include "src/engines.h"

#include <errno.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef MD_VERSION
#define MD_VERSION "0.1"
#endif

enum { PRESETS_MAX = 256 };

typedef struct preset {
  const char *name;
  char *const *value;
  int nvalue;
} preset;

typedef struct command_line {
  const char *deck;
  const char *log_name, *screen_name, *echo;
  const char *engine;
  int64_t threads;
  int npreset;
  preset presets[PRESETS_MAX];
} command_line;

static const char usage[] =
    "usage: myriad -in DECK [options]     run a deck (an input script in LAMMPS's language)\n"
    "       myriad info                   what this build and machine offer\n"
    "       myriad help [COMMAND]         the commands of the deck language; help --markdown: all of them\n"
    "options:\n"
    "  -in, -i FILE                 the deck; - reads standard input\n"
    "  -var, -v NAME VALUE...       set a variable, before the deck does\n"
    "  --engine NAME                openmp (default) or naive\n"
    "  --threads N                  threads of the openmp engine (default: OMP_NUM_THREADS, or all cores)\n"
    "  -log, -l FILE|none           the log file (default log.myriad)\n"
    "  -screen, -sc FILE|none       what goes to the screen otherwise\n"
    "  -echo, -e none|screen|log|both   where deck lines are repeated (default log)\n"
    "  -h, --help, --version\n"
    "exit status: 0 done, 1 runtime error, 2 usage or deck error, 3 physics error\n";

/* A message may quote bytes of a damaged file: what could start a new line or steer a terminal becomes ?. */
static void put_message(FILE *file, const char *before)
{
  fputs(before, file);
  for (const char *c = md_error_text(); *c; ++c) putc((unsigned char)*c < ' ' || *c == 127 ? '?' : *c, file);
  putc('\n', file);
}

static int fail(md_status status)
{
  put_message(stderr, "myriad: error: ");
  return (int)status;
}

/* What was printed may still be on its way to a full disk. */
static int finish_printing(void)
{
  if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
  return fail(md_error(MD_RUNTIME, "cannot write to standard output: %s", strerror(errno)));
}

static bool is(const char *word, const char *a, const char *b)
{
  return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

/* The words behind -var NAME up to the next option. A value may be a negative number. */
static int values(int argc, char *const *argv, int from)
{
  int n = 0;
  while (from + n < argc && !(argv[from + n][0] == '-' && argv[from + n][1] != '\0' &&
                              !strchr("0123456789.", argv[from + n][1])))
    ++n;
  return n;
}

static md_status parse(int argc, char **argv, command_line *c)
{
  *c = (command_line){.log_name = "log.myriad", .engine = "openmp"};
  for (int a = 1; a < argc; ++a) {
    const char *word = argv[a];
    const char *value = a + 1 < argc ? argv[a + 1] : NULL;
    if (is(word, "-var", "-v") || is(word, "--var", "-var")) {
      preset *p = &c->presets[c->npreset];
      const int n = values(argc, argv, a + 1);
      if (n < 2) return md_error(MD_USAGE, "-var takes a name and at least one value");
      if (++c->npreset > PRESETS_MAX) return md_error(MD_USAGE, "more than %d -var options", PRESETS_MAX);
      *p = (preset){argv[a + 1], argv + a + 2, n - 1};
      a += n;
      continue;
    }
    const char **text = is(word, "-in", "-i") || is(word, "--in", "-in")                ? &c->deck
                        : is(word, "-log", "-l") || is(word, "--log", "-log")           ? &c->log_name
                        : is(word, "-screen", "-sc") || is(word, "--screen", "-screen") ? &c->screen_name
                        : is(word, "-echo", "-e") || is(word, "--echo", "-echo")        ? &c->echo
                        : is(word, "--engine", "-engine")                               ? &c->engine
                                                                                        : NULL;
    if (!text && !is(word, "--threads", "-threads"))
      return md_error(MD_USAGE, "unknown option `%s`; see myriad --help", word);
    if (!value) return md_error(MD_USAGE, "option %s needs a value; see myriad --help", word);
    ++a;
    if (text)
      *text = value;
    else
      MD_TRY(md_word_int64(value, "--threads", 1, 4096, &c->threads));
  }
  if (!c->deck) return md_error(MD_USAGE, "no deck: say myriad -in FILE; see myriad --help");
  if (c->echo && !is(c->echo, "screen", "both") && !is(c->echo, "log", "none"))
    return md_error(MD_USAGE, "-echo takes none, screen, log or both, not `%s`", c->echo);
  return MD_OK;
}

static md_status open_log(md_log *log, const command_line *c)
{
  *log = (md_log){.echo_file = true};
  if (!c->screen_name) {
    log->screen = stdout;
    log->live = isatty(STDOUT_FILENO) == 1;
  } else if (strcmp(c->screen_name, "none") != 0) {
    log->screen = fopen(c->screen_name, "w");
    if (!log->screen)
      return md_error(MD_RUNTIME, "cannot write the screen file %s: %s", c->screen_name, strerror(errno));
  }
  MD_TRY(md_log_open(log, c->log_name, "w"));
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

static md_status unknown_engine(const char *name)
{
  char accepted[256] = "";
  for (int k = 0; k < md_engines_count; ++k) {
    const size_t used = strlen(accepted);
    snprintf(accepted + used, sizeof accepted - used, "%s%s", k > 0 ? ", " : "", md_engines[k]->name);
  }
  return md_error(MD_USAGE, "there is no engine `%s` in this build; accepted are %s", name, accepted);
}

static md_status run_deck(md_sim *sim, const command_line *c)
{
  sim->engine = md_engine_find(c->engine);
  if (!sim->engine) return unknown_engine(c->engine);
  if (c->threads > 0) omp_set_num_threads((int)c->threads);
  sim->options.threads = omp_get_max_threads();
  for (int p = 0; p < c->npreset; ++p)
    MD_TRY(
        md_variables_preset(sim->variables, c->presets[p].name, c->presets[p].nvalue, c->presets[p].value));
  const bool standard_input = strcmp(c->deck, "-") == 0;
  FILE *file = standard_input ? stdin : fopen(c->deck, "r");
  if (!file) return md_error(MD_RUNTIME, "cannot read the deck %s: %s", c->deck, strerror(errno));
  const double started = md_time();
  const md_status status = md_deck_run(sim, file, standard_input ? "standard input" : c->deck);
  if (!standard_input) fclose(file);
  if (status == MD_OK) {
    const long seconds = (long)(md_time() - started);
    if (sim->log->file) md_log_print(sim->log, "log: %s\n", sim->log->file_name);
    md_log_print(sim->log, "Total wall time: %ld:%02ld:%02ld\n", seconds / 3600, seconds / 60 % 60,
                 seconds % 60);
    return md_log_status(sim->log);
  }
  if (sim->log->file) put_message(sim->log->file, "ERROR: ");
  return status;
}

static int run(const command_line *c)
{
  md_log log;
  md_status status = open_log(&log, c);
  if (status == MD_OK) {
    md_sim sim;
    status = md_sim_init(&sim);
    sim.log = &log;
    if (status == MD_OK) status = md_comm_serial(&sim.comm);
    if (status == MD_OK) {
      md_log_print(&log, "Myriad %s\n", MD_VERSION);
      status = run_deck(&sim, c);
    }
    const int result = status == MD_OK ? 0 : fail(status);
    if (sim.comm) sim.comm->destroy(sim.comm);
    md_sim_free(&sim);
    close_log(&log);
    return result;
  }
  close_log(&log);
  return fail(status);
}

static int info(void)
{
  printf("Myriad %s\n\nEngines:\n", MD_VERSION);
  for (int k = 0; k < md_engines_count; ++k)
    printf("  %-8s %s\n", md_engines[k]->name, md_engines[k]->summary);
  printf("\nPair styles:\n");
  for (int k = 0; k < MD_PAIR_KINDS; ++k) {
    const md_pair_style *style = md_pair_style_of((md_pair_kind)k);
    printf("  %-10s %s\n", style->name, style->summary);
  }
  printf("\nThis machine: %d threads, %s vector instructions\n", omp_get_max_threads(), md_openmp_isa());
  printf("Default engine: %s\n", md_engines[0]->name);
  printf("\nLimits: %lld particles and ghosts a rank, ids up to 2^63 - 1, %d types\n",
         (long long)MD_PARTICLES_MAX, MD_TYPES_MAX);
  printf("Bytes per particle: %d in 2D, %d in 3D, and what the engine adds (see the end of a log)\n",
         md_particles_bytes(2), md_particles_bytes(3));
  return finish_printing();
}

/* docs/commands.md: every command with its help, as `myriad help COMMAND` prints it. */
static int help_markdown(void)
{
  printf(
      "# Deck commands\n\n<!-- Written by `myriad help --markdown`; edit src/commands.def instead. -->\n\n"
      "Capitals stand for values, `[ ]` for what may be left out, `|` for a choice, `...` for repetition.\n"
      "[decks.md](decks.md) explains how a deck is read. `myriad help COMMAND` prints one of these.\n\n");
  for (int k = 0; k < md_commands_count; ++k)
    printf("%s[%s](#%s)", k > 0 ? " ·\n" : "", md_commands[k].name, md_commands[k].name);
  putchar('\n');
  for (int k = 0; k < md_commands_count; ++k)
    printf("\n## %s\n\n```text\n%s\n\n%s\n```\n", md_commands[k].name, md_commands[k].usage,
           md_commands[k].help);
  return finish_printing();
}

static int help(const char *name)
{
  if (name && strcmp(name, "--markdown") == 0) return help_markdown();
  if (!name) {
    fputs(usage, stdout);
    printf("\ndeck commands (myriad help COMMAND explains one):\n");
    for (int k = 0; k < md_commands_count; ++k) printf("  %s\n", md_commands[k].usage);
    return finish_printing();
  }
  const md_command *command = md_command_find(name);
  if (!command) {
    const char *nearest = md_command_nearest(name);
    return fail(md_error(MD_USAGE, "there is no command `%s`%s%s; myriad help lists them", name,
                         nearest ? ", did you mean " : "", nearest ? nearest : ""));
  }
  printf("%s\n\n%s\n", command->usage, command->help);
  return finish_printing();
}

/* OpenMP threads wait for each other by spinning, which on a machine with other work to do wastes the very time
 * slices they wait for: a run can become a hundred times slower. A short spin keeps the speed of an idle machine
 * without that risk, but a runtime reads its settings before main; so set them, unless the user has, and start
 * over. If that fails the program runs all the same. */
static void wait_politely(char **argv)
{
  if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || getenv("KMP_BLOCKTIME")) return;
  if (setenv("GOMP_SPINCOUNT", "1000", 1) != 0 || setenv("KMP_BLOCKTIME", "1", 1) != 0) return;
  execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
  wait_politely(argv);
  const bool about = argc >= 2 && is(argv[1], "info", "--info"),
             helping = argc >= 2 && strcmp(argv[1], "help") == 0;
  const int most = helping ? 3 : 2;
  if ((about || helping) && argc > most)
    return fail(md_error(MD_USAGE, "%s: unexpected word `%s`; see myriad --help", argv[1], argv[most]));
  if (about) return info();
  if (helping) return help(argc >= 3 ? argv[2] : NULL);
  for (int a = 1; a < argc; ++a) {
    if (is(argv[a], "-h", "--help") || strcmp(argv[a], "-help") == 0) return help(NULL);
    if (strcmp(argv[a], "--version") == 0) {
      printf("Myriad %s\n", MD_VERSION);
      return finish_printing();
    }
  }
  command_line c;
  const md_status status = parse(argc, argv, &c);
  return status == MD_OK ? run(&c) : fail(status);
}
