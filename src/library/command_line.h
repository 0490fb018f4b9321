/* The command line: what it says about a simulation, which the program and the library (myriad.h) read alike. */
#ifndef MD_SRC_LIBRARY_COMMAND_LINE_H
#define MD_SRC_LIBRARY_COMMAND_LINE_H

#include "common/engine.h"
#include "src/deck/command.h"

enum { MD_PRESETS_MAX = 256, MD_PACKAGES_MAX = 16 };

/* A variable of -var. */
typedef struct md_preset {
  const char *name;
  char *const *value;
  int nvalue;
} md_preset;

/* All texts are those of the words that were read. */
typedef struct md_command_line {
  bool library; /* it is that of a library, which gets its commands later: no -in, --resume or --walltime */
  const char *deck; /* empty: not given */
  const char *log_name, *screen_name, *echo;
  const char *engine;
  const md_engine_kind *kind; /* the engine named `engine`, or the GPU engine with --gpu-naive */
  bool gpu_naive;
  bool plan;
  bool check;
  bool frame;
  int64_t step;    /* of --step; -1: not given */
  md_words output; /* words of -o: FILE [STYLE ARGUMENTS ...] */
  bool resume;
  double walltime;   /* seconds; 0: not given */
  bool no_walltime;  /* --walltime none: the limit of the batch system is ignored too */
  double started;    /* value of md_time() when the program started */
  int64_t particles; /* of --particles; 0: not given */
  int64_t ranks;     /* of --ranks; 0: not given */
  int64_t threads;
  int npreset;
  md_preset presets[MD_PRESETS_MAX];
  int npackage;
  md_words packages[MD_PACKAGES_MAX]; /* words of each package command */
} md_command_line;

/* The first lines of what `myriad --help` prints. */
extern const char md_command_line_usage[];

/* Reads options. c: library, plan, check and started are set, and all else is 0. MD_USAGE: an option is refused, or
 * there is no deck. MD_RUNTIME: the engine cannot be used here. */
md_status md_command_line_read(int argc, char **argv, md_command_line *c) MD_CHECKED;

/* "plan" or "check", or NULL if the deck is to be run. */
const char *md_command_line_runs_nothing(const md_command_line *c);

#endif
