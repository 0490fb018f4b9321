/* A session: a simulation with its communicator, log, files and options. The program has one and runs a deck in it; the
 * library (myriad.h) has one for each simulation that it opens, and gives it commands.
 *
 *   md_session_open -> md_session_deck, or md_session_commands as often as wanted -> md_session_close
 *
 * All functions are collective.
 */
#ifndef MD_SRC_LIBRARY_SESSION_H
#define MD_SRC_LIBRARY_SESSION_H

#include "src/files/printed_files.h"
#include "src/library/command_line.h"
#include "src/sim.h"
#include "src/stop.h"

typedef struct md_session {
  md_comm *comm; /* not owned */
  const md_command_line *line;
  md_log log;
  md_file_uses *files;
  md_printed printed;
  md_stop stop;
  md_sim sim;
  bool open; /* the simulation is there */
} md_session;

/* Opens log and files as the command line says, and sets up a simulation. comm and line must outlive the session. The
 * caller calls md_session_close, also after an error. MD_USAGE, MD_RUNTIME: an option is refused, or a file cannot be
 * written. */
md_status md_session_open(md_session *session, md_comm *comm, const md_command_line *line) MD_CHECKED;

/* Runs, plans or checks the deck of the command line, and prints the last lines of the log. *quit: receives the status
 * of the command quit. Errors: those of the deck. */
md_status md_session_deck(md_session *session, int *quit) MD_CHECKED;

/* Closes everything, with the status that the session ends with; returns it, or an error of closing. *alone: the other
 * ranks do not come. The simulation then stays as it is. */
md_status md_session_close(md_session *session, md_status status, bool *alone) MD_CHECKED;

/* Prints the present error message on one line, after `before`; nothing if the message is empty. */
void md_put_message(FILE *file, const char *before);

#endif
