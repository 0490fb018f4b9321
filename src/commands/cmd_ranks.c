/* The command processors: how many domains a run has along each axis (common/ranks/decompose.h). It changes no bit of
 * the results. Reference: the LAMMPS manual, command processors. */
#include "common/ranks/domains.h"
#include "src/sim.h"

#include <string.h>

md_status md_do_processors(md_sim *sim, const md_words *words)
{
  const int size = sim->comm->size;
  int grid[3] = {0, 0, 0};
  int64_t ranks = 1;
  if (sim->has_box) return md_error(MD_USAGE, "processors must come before create_box or read_data");
  for (int d = 0; d < 3; ++d) {
    int64_t p;
    if (strcmp(words->word[d], "*") == 0) continue;
    MD_TRY(md_word_int64(words->word[d], "each of processors Px Py Pz (a count, or *)", 1, INT32_MAX, &p));
    if (d == 2 && p > 1 && sim->model.box.dim == 2)
      return md_error(MD_USAGE, "processors: Pz must be 1 or * in two dimensions");
    grid[d] = (int)p;
    ranks = ranks > size ? ranks : ranks * p;
  }
  if (words->n > 3)
    return md_error(MD_USAGE, "processors: unknown keyword '%.64s'; only Px Py Pz are accepted",
                    words->word[3]);
  if (sim->planning.checking) return MD_OK; /* the deck may be meant for another number of ranks */
  const bool all = grid[0] && grid[1] && grid[2];
  if (ranks < 1 || size % ranks != 0 || (all && ranks != size))
    return md_error(
        MD_USAGE,
        "processors %.16s %.16s %.16s does not fit the %d rank%s of this run; write processors * * *",
        words->word[0], words->word[1], words->word[2], size, size == 1 ? "" : "s");
  sim->comm->domains->fix_grid(sim->comm, grid);
  return MD_OK;
}
