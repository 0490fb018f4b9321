/* Reads the words of a command line; see command_line.h. */
#include "src/library/command_line.h"
#include "common/base/name_list.h"
#include "common/base/timer.h"
#include "src/engines/engines.h"
#include "src/hdf5/hdf5_file.h"
#include "src/stop.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

const char md_command_line_usage[] =
    "usage: myriad -in DECK [options]     run a deck (an input script in LAMMPS's language)\n"
    "       mpirun -n P myriad -in DECK [options]\n"
    "                                     the same, by P ranks\n"
    "       myriad plan -in DECK [options] [--particles N] [--ranks P]\n"
    "                                     the memory an engine needs for a deck, or for N such particles,\n"
    "                                     and what P ranks would tell one another\n"
    "       myriad check -in DECK [options]\n"
    "                                     every line that would not run, without running\n"
    "       myriad frame -in DECK --step S -o FILE [STYLE ARGUMENTS...] [options]\n"
    "                                     the state of step S, from the nearest restart of the deck, as a "
    "dump of\n"
    "                                     a style; without one by the name: .png a picture, .data a data "
    "file,\n"
    "                                     .xyz, .h5, and text with positions and velocities else\n"
    "       myriad info                   what this build and machine offer\n"
    "       myriad help [COMMAND] [STYLE] the commands of the deck language, and styles of fix and compute; "
    "help\n"
    "                                     --markdown: all of them\n"
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
static const char **text_option(md_command_line *c, const char *word)
{
  return is(word, "-in", "-i") || is(word, "--in", "-in")                ? &c->deck
         : is(word, "-log", "-l") || is(word, "--log", "-log")           ? &c->log_name
         : is(word, "-screen", "-sc") || is(word, "--screen", "-screen") ? &c->screen_name
         : is(word, "-echo", "-e") || is(word, "--echo", "-echo")        ? &c->echo
         : is(word, "--engine", "-engine")                               ? &c->engine
                                                                         : NULL;
}

static md_status set_walltime(md_command_line *c, const char *value)
{
  c->no_walltime = strcmp(value, "none") == 0;
  c->walltime = 0.0;
  return c->no_walltime ? MD_OK : md_stop_read_time(value, &c->walltime);
}

static md_status one_value(md_command_line *c, const char *word, const char *value)
{
  const char **text = text_option(c, word);
  const bool threads = is(word, "--threads", "-threads"), particles = is(word, "--particles", "-particles"),
             ranks = is(word, "--ranks", "-ranks"), walltime = is(word, "--walltime", "-walltime"),
             step = is(word, "--step", "-step");
  if (!text && !threads && !particles && !ranks && !walltime && !step)
    return md_error(MD_USAGE, "unknown option '%s'; %ssee myriad --help", word,
                    word[0] == '-' ? "" : "a deck is given as -in FILE; ");
  if ((particles || ranks) && !c->plan)
    return md_error(MD_USAGE, "%s goes with myriad plan; see myriad --help", word);
  if (step && !c->frame) return md_error(MD_USAGE, "%s goes with myriad frame; see myriad --help", word);
  if (!value) return md_error(MD_USAGE, "option %s needs a value; see myriad --help", word);
  if (walltime) return set_walltime(c, value);
  if (step) return md_word_int64(value, "--step", 0, INT64_MAX, &c->step);
  if (threads) return md_word_int64(value, "--threads", 1, INT_MAX, &c->threads);
  if (particles) return md_word_int64(value, "--particles", 1, INT64_MAX, &c->particles);
  if (ranks) return md_word_int64(value, "--ranks", 1, 1 << 24, &c->ranks);
  *text = value;
  return MD_OK;
}

/* Reads an option with any number of values. *used is the number of words that the option took, or 0 if `argv[0]`
 * is no such option. */
static md_status many_values(md_command_line *c, int argc, char **argv, int *used)
{
  const char *word = argv[0];
  const bool package = is(word, "-package", "-pk") || is(word, "--package", "-pk");
  *used = 0;
  if (is(word, "--gpu-naive", "-gpu-naive") || is(word, "--resume", "-resume")) {
    *(strstr(word, "resume") ? &c->resume : &c->gpu_naive) = true;
    *used = 1;
    return MD_OK;
  }
  const bool output = is(word, "-o", "--output");
  if (!package && !output && !is(word, "-var", "-v") && !is(word, "--var", "-var")) return MD_OK;
  const int n = values(argc, argv, 1);
  *used = 1 + n;
  if (output) {
    if (!c->frame) return md_error(MD_USAGE, "%s goes with myriad frame; see myriad --help", word);
    if (n < 1)
      return md_error(MD_USAGE, "%s takes a file name, and perhaps a dump style with its words", word);
    c->output = (md_words){n, argv + 1};
    return MD_OK;
  }
  if (package) {
    if (n < 1)
      return md_error(MD_USAGE, "%s takes the words of a package command: gpu KEYWORD VALUE...", word);
    if (c->npackage == MD_PACKAGES_MAX)
      return md_error(MD_USAGE, "more than %d -pk options", MD_PACKAGES_MAX);
    c->packages[c->npackage++] = (md_words){n, argv + 1};
    return MD_OK;
  }
  if (n < 2) return md_error(MD_USAGE, "-var takes a name and at least one value");
  if (c->npreset == MD_PRESETS_MAX) return md_error(MD_USAGE, "more than %d -var options", MD_PRESETS_MAX);
  c->presets[c->npreset++] = (md_preset){argv[1], argv + 2, n - 1};
  return MD_OK;
}

static md_status unknown_engine(const char *name)
{
  char accepted[256] = "";
  for (int k = 0; k < md_engines_count; ++k)
    md_name_list_add(accepted, sizeof accepted, ", ", md_engines[k].name);
  return md_error(MD_USAGE, "there is no engine '%s'; accepted are %s", name, accepted);
}

static md_status choose_engine(md_command_line *c)
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

const char *md_command_line_runs_nothing(const md_command_line *c)
{
  return c->plan ? "plan" : c->check ? "check" : NULL;
}

static md_status check_frame(const md_command_line *c)
{
  if (!c->frame) return MD_OK;
  if (c->step < 0 || c->output.n == 0)
    return md_error(MD_USAGE, "myriad frame needs --step S and -o FILE; see myriad --help");
  if (c->resume || c->walltime > 0.0)
    return md_error(MD_USAGE, "myriad frame finds a restart itself, and writes none: leave --resume and "
                              "--walltime out");
  if (strcmp(c->deck, "-") == 0)
    return md_error(MD_USAGE, "myriad frame reads the deck twice: give it as a file, not as standard input");
  return MD_OK;
}

static md_status check_going_on(const md_command_line *c)
{
  if (md_command_line_runs_nothing(c) && (c->resume || c->walltime > 0.0))
    return md_error(MD_USAGE, "myriad %s runs nothing: leave --resume and --walltime out",
                    md_command_line_runs_nothing(c));
  if (c->resume) MD_TRY(md_h5_need("--resume"));
  if (c->walltime > 0.0) MD_TRY(md_h5_need("--walltime"));
  if (c->resume && strcmp(c->deck, "-") == 0)
    return md_error(MD_USAGE, "--resume reads the deck twice: give it as a file, not as standard input");
  return MD_OK;
}

/* A library gets its commands later. */
static md_status check_library(const md_command_line *c)
{
  if (c->deck[0] != '\0')
    return md_error(MD_USAGE, "-in is an option of the program: give the deck to myriad_file instead");
  if (c->resume || c->walltime > 0.0)
    return md_error(MD_USAGE,
                    "--resume and --walltime are options of the program, for a deck that it runs as a whole");
  return MD_OK;
}

static md_status check_options(const md_command_line *c)
{
  const char *nothing = md_command_line_runs_nothing(c);
  if (c->library) MD_TRY(check_library(c));
  if (!c->library && c->deck[0] == '\0')
    return md_error(MD_USAGE, "no deck: say myriad %s%s-in FILE; see myriad --help", nothing ? nothing : "",
                    nothing ? " " : "");
  if (c->echo && !is(c->echo, "screen", "both") && !is(c->echo, "log", "none"))
    return md_error(MD_USAGE, "-echo takes none, screen, log or both, not '%s'", c->echo);
  if (nothing && c->log_name && strcmp(c->log_name, "none") != 0)
    return md_error(MD_USAGE, "myriad %s writes no log file: leave -log %s out", nothing, c->log_name);
  return MD_OK;
}

md_status md_command_line_read(int argc, char **argv, md_command_line *c)
{
  if (!c->deck) c->deck = "";
  if (!c->engine) c->engine = md_engines[0].name;
  c->step = -1;
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
  MD_TRY(check_frame(c));
  if (!c->log_name) c->log_name = md_command_line_runs_nothing(c) || c->frame ? "none" : "log.myriad";
  return choose_engine(c);
}
