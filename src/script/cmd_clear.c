/* The command clear: begins with an empty system. */
#include "common/ranks/domains.h"
#include "src/sim.h"

md_status md_do_clear(md_sim *sim, const md_words *words)
{
  (void)words;
  md_file_unuse(sim->files, MD_FILE_DUMP, NULL);
  md_file_unuse(sim->files, MD_FILE_RESTART, NULL);
  sim->comm->balance = (md_balance){0};
  sim->comm->domains->fix_grid(sim->comm, (const int[3]){0, 0, 0});
  return md_sim_clear(sim);
}
