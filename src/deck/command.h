/* The command table: name, handler, usage and help of every deck command. commands.def holds each entry once.
 *
 * The parser (deck.c), `myriad help COMMAND` and the check of docs/reference/commands.md use this table.
 *
 * A handler gets the words after the command's name, with variables already replaced. It validates all of them. An
 * unknown keyword or style, a wrong count or a value out of range is an md_error(MD_USAGE, ...) that names the
 * word and says what is accepted. deck.c puts "file:line: " in front of the message. deck.c also checks the number
 * of words itself.
 */
#ifndef MD_SRC_DECK_COMMAND_H
#define MD_SRC_DECK_COMMAND_H

#include "common/base/words.h"

typedef struct md_sim md_sim;

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

/* Finds a command by its exact name. NULL: there is none. */
const md_command *md_command_find(const char *name);

/* The known name that is nearest to a misspelt one, for messages. NULL: no name is near. */
const char *md_command_nearest(const char *name);

/* Advice for a command that LAMMPS has and Myriad does not (lammps_commands.def); "" if there is no advice. NULL:
 * LAMMPS has no such command either. */
const char *md_command_of_lammps(const char *name);

/* Returns MD_USAGE, with a message that names the command and suggests what may be meant. */
md_status md_command_unknown(const char *name);

/* Returns MD_USAGE, with a message that says how many words the command takes and that it has n. */
md_status md_command_count(const md_command *command, int n);

/* A range of types: "3", "*", "2*", "*4" or "2*4", within 1..ntypes. */
md_status md_word_types(const char *word, int ntypes, int *first, int *last) MD_CHECKED;
/* For commands that only take the group `all`. */
md_status md_word_group(const char *word) MD_CHECKED;

/* The handlers, one for each command and named after it. */
#define MD_COMMAND(name, least, most, usage, help)                                                           \
  md_status md_do_##name(md_sim *sim, const md_words *words) MD_CHECKED;
#include "src/deck/commands.def"
#undef MD_COMMAND

#endif
