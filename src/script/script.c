/* What the commands of script control share; see script.h. */
#include "src/script/script.h"
#include "common/base/open_file.h"
#include "common/ranks/reductions.h"
#include "src/sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void md_script_free(md_script *script)
{
  for (int k = 0; k < script->nvisited; ++k) free(script->visited[k]);
  free(script->visited);
  free(script->label);
}

bool md_script_is_control(const char *command)
{
  static const char *const names[] = {"include", "jump", "label", "next", "if", "quit"};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k)
    if (strcmp(names[k], command) == 0) return true;
  return false;
}

md_status md_script_open(md_sim *sim, const char *what, const char *name, FILE **file)
{
  md_status status = MD_OK;
  *file = md_open_read(name);
  if (!*file) status = md_error(MD_RUNTIME, "%s: cannot read %.500s: %s", what, name, md_open_reason(errno));
  if (sim->files && !sim->planning.on && sim->comm->rank == 0 && status == MD_OK)
    status = md_file_use(sim->files, MD_FILE_INCLUDE, NULL, name);
  status = md_comm_agree(sim->comm, status);
  if (status != MD_OK && *file) fclose(*file);
  return status;
}

bool md_script_is_checked(const md_sim *sim) { return sim->check && sim->planning.checking; }

bool md_script_is_lost(const md_sim *sim) { return sim->follow && sim->script.lost; }
