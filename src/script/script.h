/* Script control: the way through a deck that the commands include, jump, label, next, if and quit choose.
 *
 * src/deck/deck.c reads the source on top of a stack. include puts a file on the stack, and reads it to its end. jump
 * changes the source on top: it goes back to the first line, or on with another file. With a label, commands are then
 * skipped up to the command `label` with that name. next, at the end of a variable's values, makes the deck pass over
 * its next jump. These are the rules of LAMMPS.
 *
 * A deck is read in four ways. A run follows the deck. The two readings before a run (src/deck/search.h,
 * src/commands/preview.h) follow it too, as far as that is possible without running. Where the way depends on a run, it
 * is `lost`: from there on jumps are passed over, and lines are taken in the order of the file. `myriad check` ends on
 * every deck: it takes a jump back only after `next`, and a hundred at most. After these a variable is at its end at
 * the first `next`. What is not executed then is looked at (glance.h).
 */
#ifndef MD_SRC_SCRIPT_SCRIPT_H
#define MD_SRC_SCRIPT_SCRIPT_H

#include "src/deck/command.h"
#include "src/script/source.h"
#include <stdint.h>

enum { MD_NESTING_MAX = 16 }; /* of files, and of commands in commands; the number of LAMMPS */

typedef struct md_script {
  md_source *source; /* the one that is read; NULL: none */
  int nesting;       /* sources that include has opened, and commands within commands */
  char *label;       /* commands are skipped up to this label; NULL: they are not */
  int64_t asked_at;  /* line of the jump to this label; 0: it came from another file */
  bool pass_jump;    /* the next jump is not taken */
  bool again;     /* for `myriad check`: the next jump is that of a loop whose variable is not at its end */
  bool within_if; /* the present command stands within `if` */
  bool lost;      /* the way through the deck is not known, as it depends on a run */
  bool quit;      /* the deck has ended early ... */
  int status;     /* ... and the program ends with this status */
  int64_t njump;  /* jumps that were taken */
  double waiting; /* when a jump first found that the deck should stop (md_time); 0: it has not */
  int nvisited;   /* files that `myriad check` has jumped to */
  char **visited;
} md_script;

void md_script_free(md_script *script);

/* Whether a command chooses the way through the deck: include, jump, label, next, if, quit. */
bool md_script_is_control(const char *command);

/* Opens a file of commands on all ranks, for the command named `what`. The caller closes *file. MD_RUNTIME: it cannot
 * be read on some rank. Collective. */
md_status md_script_open(md_sim *sim, const char *what, const char *name, FILE **file) MD_CHECKED;

/* Whether jumps are only judged, as `myriad check` does. */
bool md_script_is_checked(const md_sim *sim);

/* Whether `lost` is set and the deck is only followed (src/deck/search.h, src/commands/preview.h). */
bool md_script_is_lost(const md_sim *sim);

#endif
