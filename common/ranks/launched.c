/* The environment that launchers make; see launched.h. */
#include "common/ranks/launched.h"

#include <stddef.h>
#include <stdlib.h>

/* Variables of Open MPI, of MPICH and Intel MPI, of PMIx, and of Slurm's srun. The first ones hold the number of ranks.
 */
enum { SIZES = 3 };
static const char *const marks[] = {
    "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_RANK", "PMIX_RANK", "MPI_LOCALNRANKS"};

bool md_was_launched(void)
{
  for (size_t k = 0; k < sizeof marks / sizeof marks[0]; ++k)
    if (getenv(marks[k])) return true;
  return false;
}

long md_launched_ranks(void)
{
  long most = 0;
  for (int k = 0; k < SIZES; ++k) {
    const char *text = getenv(marks[k]);
    const long ranks = text ? strtol(text, NULL, 10) : 0;
    most = ranks > most ? ranks : most;
  }
  return most;
}
