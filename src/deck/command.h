/* The command table: name, handler, usage and help of every deck command, once, in commands.def.
 *
 * It yields the parser (deck.c), `myriad help COMMAND` and the check of docs/commands.md.
 * A handler gets the words behind the command's name, variables already replaced. It validates everything:
 * an unknown keyword or style, a wrong count or a value out of range is an md_error(MD_USAGE, ...) that names
 * the token and says what is accepted; deck.c puts "file:line: " in front, and checks the number of words itself.
 */
#ifndef MD_SRC_DECK_COMMAND_H
#define MD_SRC_DECK_COMMAND_H

#include "common/base/error.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct md_sim md_sim;

typedef struct md_words {
  int n;
  char **word;
} md_words;

typedef md_status (*md_command_handler)(md_sim *sim, const md_words *words);

typedef struct md_command {
  const char *name;
  md_command_handler handler;
  int least, most;   /* accepted number of words; most < 0: any */
  const char *usage; /* "mass TYPE VALUE" */
  const char *help;  /* what it does, defaults, what is accepted; lines of at most 100 characters */
} md_command;

extern const md_command md_commands[];
extern const int md_commands_count;

/* NULL if there is none. */
const md_command *md_command_find(const char *name);

/* The nearest known name to a misspelt one, for messages; NULL if nothing is near. */
const char *md_command_nearest(const char *name);

/* What to do instead of a command that LAMMPS has and Myriad does not (lammps_commands.def), "" if nothing is
 * known; NULL: no such command. */
const char *md_command_of_lammps(const char *name);

/* MD_USAGE with a message that names the command, and what may be meant. */
md_status md_command_unknown(const char *name);

/* Words to values, with a message naming the token. Numbers are finite; int64 takes whole numbers only. */
md_status md_word_double(const char *word, const char *what, double *value) MD_CHECKED;
md_status md_word_positive(const char *word, const char *what, double *value) MD_CHECKED;
md_status md_word_int64(const char *word, const char *what, int64_t least, int64_t most,
                        int64_t *value) MD_CHECKED;
md_status md_word_bool(const char *word, const char *what,
                       bool *value) MD_CHECKED; /* yes no on off true false */
/* Types "3", "*", "2*", "*4", "2*4" within 1..ntypes. */
md_status md_word_types(const char *word, int ntypes, int *first, int *last) MD_CHECKED;
/* Only the group `all` exists. */
md_status md_word_group(const char *word) MD_CHECKED;

/* The handlers, one per command, named after it. */
#define MD_COMMAND(name, least, most, usage, help)                                                           \
  md_status md_do_##name(md_sim *sim, const md_words *words) MD_CHECKED;
#include "src/deck/commands.def"
#undef MD_COMMAND

#endif
