/* Commands about the log: `log` opens another file, and `echo` says where lines of the deck are repeated. */
#include "common/ranks/reductions.h"
#include "src/sim.h"

#include <string.h>

md_status md_do_log(md_sim *sim, const md_words *words)
{
  const char *name = words->word[0];
  if (words->n == 2 && strcmp(words->word[1], "append") != 0)
    return md_error(MD_USAGE, "log: unknown keyword '%.64s'; accepted is append", words->word[1]);
  if (words->n == 2 && strcmp(name, "none") == 0) return md_error(MD_USAGE, "log none cannot be appended to");
  if (sim->planning.on) {
    md_sim_explain(sim, "log", "nothing is written here");
    return MD_OK;
  }
  /* The text that this deck has written to the file is not lost. */
  const bool again = md_file_was_used(sim->files, MD_FILE_LOG, name);
  md_file_unuse(sim->files, MD_FILE_LOG, NULL);
  if (strcmp(name, "none") != 0) MD_TRY(md_sim_use_file(sim, MD_FILE_LOG, NULL, name));
  const char *mode = words->n == 2 || again || sim->resuming ? "a" : "w";
  return md_comm_agree(
      sim->comm, sim->comm->rank == 0
                     ? md_log_open(sim->log, name, mode, md_file_is_shared(sim->files, MD_FILE_LOG, name))
                     : MD_OK);
}

md_status md_do_echo(md_sim *sim, const md_words *words)
{
  const char *word = words->word[0];
  const bool both = strcmp(word, "both") == 0, screen = strcmp(word, "screen") == 0,
             file = strcmp(word, "log") == 0;
  if (!both && !screen && !file && strcmp(word, "none") != 0)
    return md_error(MD_USAGE, "echo '%.64s' is unknown; accepted are none, screen, log and both", word);
  sim->log->echo_screen = both || screen;
  sim->log->echo_file = both || file;
  return MD_OK;
}
