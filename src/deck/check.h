/* Checking a deck: reading it to its end although lines are faulty, and collecting the faults.
 *
 * `myriad check` checks all lines. `myriad plan` executes lines until the first faulty one, and checks the lines
 * after it. check.c describes the method.
 */
#ifndef MD_SRC_DECK_CHECK_H
#define MD_SRC_DECK_CHECK_H

#include "src/sim.h"

/* A name that a faulty line should have defined. */
typedef struct md_check_name {
  char kind; /* first letter of its command: variable, region, group, fix, compute, dump */
  char *text;
} md_check_name;

typedef struct md_check_lines {
  int64_t n, *line;
} md_check_lines;

/* A formula that names something which is not there yet. It may be there when the formula is evaluated. */
typedef struct md_check_formula {
  char deck[1024]; /* file and line of its definition */
  int64_t line;
  char *text; /* the line, with variables replaced */
  char *formula;
  bool atom;
} md_check_formula;

/* The faults that were found. deck.c uses only the members above the line and calls check.c through them, so that
 * deck.c links without check.c and src/main.c. */
typedef struct md_check {
  md_status (*execute)(md_sim *sim, const md_command *command, const md_words *arguments);
  md_status (*wrong)(md_sim *sim, md_status status, const char *text);
  char deck[1024]; /* file of the present command; `line` is its line */
  int64_t line;
  int64_t ncommand;
  bool all; /* no line is executed */
  /* ------------------------------------------------------------------ */
  char **problem; /* messages, each with file and line */
  int64_t nproblem;
  md_check_lines after; /* lines that were not judged, because they use what faulty lines should have made */
  md_check_lines
      unknown; /* lines that were not judged, because a formula in them has no value for the stand-ins */
  md_check_lines awaited; /* lines that were not judged, because they read what lines before them write */
  md_file_uses *written;  /* files of the lines so far */
  bool awaits;            /* the present line reads such a file */
  md_check_name *name;
  int64_t nname;
  md_check_formula *later; /* formulas that are judged at the next run */
  int64_t nlater;
  md_status first_status; /* status of the first problem */
  bool no_box, no_lattice, no_pair;
  bool no_lines;   /* a faulty line could have defined anything */
  bool no_columns; /* a variable in a column of thermo_style was already found faulty */
  bool no_model;   /* a faulty line changes the model, or the model itself was already found faulty */
  md_log silent;
} md_check;

/* Starts to collect the faults of the deck of `sim`. The caller then reads the deck with md_deck_run. all: every
 * command is checked and not executed; otherwise commands are executed up to the first faulty one. The caller owns
 * *check. */
void md_check_begin(md_check *check, md_sim *sim, bool all);

/* The command `run` of a deck that is checked. MD_USAGE: the model is not complete. */
md_status md_check_run(md_sim *sim, int64_t n) MD_CHECKED;

/* Prints the problems to the log, and their number last. MD_USAGE, with an empty message: there are problems. */
md_status md_check_print(const md_check *check, md_log *log) MD_CHECKED;

/* For `plan`: returns a single problem as an error. Several problems are printed to the log, and the error says
 * so. MD_OK: there was none. */
md_status md_check_status(const md_check *check, md_log *log) MD_CHECKED;

void md_check_free(md_check *check);

#endif
