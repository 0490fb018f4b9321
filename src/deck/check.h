/* Going through a deck past its faulty lines: `myriad check`, and `myriad plan` behind the first fault. */
#ifndef MD_SRC_DECK_CHECK_H
#define MD_SRC_DECK_CHECK_H

#include "src/sim.h"

/* A name that a faulty line was to define. */
typedef struct md_check_name {
  char kind; /* first letter of its command: variable, region, group, fix, compute, dump */
  char *text;
} md_check_name;

/* What has been found. The members above the line are for deck.c, which links neither this nor main.c. */
typedef struct md_check {
  md_status (*execute)(md_sim *sim, const md_command *command, const md_words *arguments);
  md_status (*wrong)(md_sim *sim, md_status status, const char *text);
  const char *deck; /* the file and the line of the present command */
  int64_t line;
  int64_t ncommand;
  /* ------------------------------------------------------------------ */
  char **problem; /* messages with their places */
  int64_t nproblem;
  int64_t *after; /* lines that could not be judged, as they use what faulty lines were to make */
  int64_t nafter;
  md_check_name *name;
  int64_t nname;
  md_status first_status; /* of the first problem */
  bool no_box, no_lattice, no_pair;
  bool no_lines; /* a line was faulty that could have defined anything */
  bool no_model; /* a line that bears on the model was faulty, or the model has been found to be */
  md_log silent;
} md_check;

/* Begins to collect the faults of sim's deck, which the caller then reads with md_deck_run. all: commands are
 * checked and not done from the first line on; else from the first faulty one on. The caller owns *check. */
void md_check_begin(md_check *check, md_sim *sim, bool all);

/* The command `run` of a deck that is checked: the model must be complete. MD_USAGE: it is not. */
md_status md_check_run(md_sim *sim, int64_t n) MD_CHECKED;

/* Prints what was found through the log, the count last. MD_USAGE, with an empty message: the deck would not run. */
md_status md_check_print(const md_check *check, md_log *log) MD_CHECKED;

/* For plan: a single problem is the error itself; several are printed, and the error says so. MD_OK: there was
 * none. */
md_status md_check_status(const md_check *check, md_log *log) MD_CHECKED;

void md_check_free(md_check *check);

#endif
