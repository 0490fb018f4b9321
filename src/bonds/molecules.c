/* Numbers of molecules; see molecules.h. A number has 32 bits, so that a double of a reduction holds it. */
#include "src/bonds/molecules.h"
#include "common/ranks/reductions.h"

md_status md_molecules_find_last(md_comm *comm, const md_particles *p, int64_t *last)
{
  double most = 0.0;
  for (int64_t i = 0; i < p->n && p->bonded; ++i) most = md_max(most, (double)p->molecule[i]);
  MD_TRY(comm->reduce->max(comm, &most, 1));
  *last = (int64_t)most;
  return MD_OK;
}
