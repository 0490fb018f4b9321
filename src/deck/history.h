/* The history of a deck: its runs so far, so that a restart can say where in the deck it was written.
 *
 * A run is identified by its index among the deck's runs, and by a hash of all commands before it that can change
 * the state of the system. Commands that only concern output or speed are left out of the hash, so that a user may
 * ask for more output before a deck is resumed. The state at the start of the first run is identified by its
 * checksum.
 */
#ifndef MD_SRC_DECK_HISTORY_H
#define MD_SRC_DECK_HISTORY_H

#include "common/model.h"
#include "src/deck/command.h"
#include <stdlib.h>
#include <string.h>

typedef struct md_run_record {
  uint64_t deck;        /* hash of the commands up to this run, which counts too */
  int64_t first, last;  /* steps */
  md_computed computed; /* values of the model's computes at the end of the run, for formulas after it */
  double box[10]; /* lo, hi, room and tilt factors of the box at the end of the run, if it changed; else 0 */
  int64_t edits;  /* of the history when the run began */
  int64_t halted; /* whether fix halt ended the run: md_halted (src/sim.h) */
  uint64_t drawn; /* random numbers that formulas had drawn at the end of the run */
  int64_t natoms; /* particles at the end of the run; -1: not known */
  uint64_t model; /* hash of the model without its groups, as prepared for the run; 0: of a minimisation */
} md_run_record;

/* What a command that a resume leaves out has measured, drawn and left. */
typedef struct md_left_out {
  uint64_t command;  /* hash of its words */
  int64_t nrun;      /* runs before it */
  int64_t nmeasured; /* of the history, after it */
  uint64_t drawn;    /* random numbers that formulas had drawn, after it */
  int64_t natoms;    /* particles after it; -1: not known */
} md_left_out;

typedef struct md_history {
  uint64_t deck;      /* hash of the commands so far */
  uint64_t beginning; /* checksum of the particles when the first run began */
  int64_t edits;      /* changes of the particles so far that were no steps */
  int64_t nrun;       /* number of runs that have begun */
  md_run_record *run;
  /* Values that formulas measured between runs (src/script/group_functions.h), in the order of the deck. */
  int64_t nmeasured;
  double *measured;
  uint64_t *measured_drawn; /* random numbers that formulas had drawn after each; NULL: not known */
  int64_t nleft; /* commands that a resume leaves out and that measured, drew or removed particles */
  md_left_out *left;
} md_history;

/* Records a measured value, and how many random numbers had been drawn after it. MD_RUNTIME: out of memory. */
static inline MD_CHECKED md_status md_history_measured(md_history *history, double value, uint64_t drawn)
{
  const size_t n = (size_t)history->nmeasured + 1;
  double *larger = realloc(history->measured, n * sizeof *larger);
  if (larger) history->measured = larger;
  uint64_t *drawn_larger = realloc(history->measured_drawn, n * sizeof *drawn_larger);
  if (drawn_larger) history->measured_drawn = drawn_larger;
  if (!larger || !drawn_larger) return md_error(MD_RUNTIME, "out of memory for the values of a deck");
  history->measured[history->nmeasured] = value;
  history->measured_drawn[history->nmeasured++] = drawn;
  return MD_OK;
}

/* Records a command that a resume leaves out. MD_RUNTIME: out of memory. */
static inline MD_CHECKED md_status md_history_left_out(md_history *history, const md_left_out *command)
{
  md_left_out *larger = realloc(history->left, (size_t)(history->nleft + 1) * sizeof *larger);
  if (!larger) return md_error(MD_RUNTIME, "out of memory for the commands of a deck");
  history->left = larger;
  history->left[history->nleft++] = *command;
  return MD_OK;
}

static inline void md_history_free(md_history *history)
{
  free(history->run);
  free(history->measured);
  free(history->measured_drawn);
  free(history->left);
}

/* The commands that compute steps, of which each use is a run of the history. */
static inline bool md_history_is_run(const char *command)
{
  return strcmp(command, "run") == 0 || strcmp(command, "seek") == 0 || strcmp(command, "minimize") == 0;
}

static inline bool md_history_is_talk(const char *command)
{
  static const char *const talk[] = {
      "atom_modify", "balance",  "comm_modify", "comm_style", "dump",          "dump_modify",  "echo",
      "if",          "include",  "info",        "jump",       "label",         "log",          "neigh_modify",
      "neighbor",    "newton",   "next",        "package",    "print",         "processors",   "quit",
      "pair_write",  "restart",  "suffix",      "thermo",     "thermo_modify", "thermo_style", "timer",
      "undump",      "variable", "verify",      "write_data", "write_dump",    "write_restart"};
  for (size_t k = 0; k < sizeof talk / sizeof talk[0]; ++k)
    if (strcmp(command, talk[k]) == 0) return true;
  return false;
}

/* Does a command leave every particle as it is, apart from steps of a run? The model may change, which its hash
 * shows. A group that changes counts itself. */
static inline bool md_history_keeps_particles(const char *command)
{
  static const char *const keeps[] = {"compute",    "fix",       "fix_modify", "group",       "mass",
                                      "min_modify", "min_style", "pair_coeff", "pair_modify", "pair_style",
                                      "region",     "run",       "run_style",  "seek",        "timestep",
                                      "uncompute",  "unfix"};
  for (size_t k = 0; k < sizeof keeps / sizeof keeps[0]; ++k)
    if (strcmp(command, keeps[k]) == 0) return true;
  return md_history_is_talk(command);
}

/* Does a command of talk leave out forces? */
static inline bool md_history_excludes(const md_words *words)
{
  bool found = false;
  for (int k = 1; k < words->n && strcmp(words->word[0], "neigh_modify") == 0; ++k)
    found = found || strcmp(words->word[k], "exclude") == 0;
  return found;
}

/* FNV-1a, of all words of a command and of the NUL after each, after `hash`. */
static inline uint64_t md_history_hash(uint64_t hash, const md_words *words)
{
  for (int k = 0; k <= words->n; ++k) {
    const char *word = k < words->n ? words->word[k] : "\n";
    do hash = (hash ^ (unsigned char)*word) * UINT64_C(0x100000001b3);
    while (*word++);
  }
  return hash;
}

/* Adds a command to the hash. words: all words of the command, its name first. */
static inline void md_history_add(md_history *history, const md_words *words)
{
  if (!md_history_keeps_particles(words->word[0])) ++history->edits;
  if (md_history_is_talk(words->word[0]) && !md_history_excludes(words)) return;
  history->deck = md_history_hash(history->deck, words);
}

#endif
