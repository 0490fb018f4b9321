/* The communicator of this process; see open_comm.h. Only this file depends on whether the build has MPI. */
#include "src/engines/open_comm.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef MD_WITH_MPI
#include "mpi/comm_mpi.h"

/* A program that no launcher started gets one rank, and does not start MPI. */
md_status md_open_comm(md_comm **comm)
{
  return md_mpi_launched() ? md_comm_mpi(comm) : md_comm_serial(comm);
}

bool md_is_launched(void) { return md_mpi_launched(); }

void md_describe_ranks(char *text, size_t size)
{
  snprintf(text, size, "%s; start them with mpirun -n P", md_mpi_library());
}

#else

md_status md_open_comm(md_comm **comm)
{
  static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
    const char *ranks = getenv(sizes[k]);
    if (ranks && strtol(ranks, NULL, 10) > 1)
      return md_error(MD_RUNTIME,
                      "started as %s ranks, but this build has no MPI: build it where mpicc is found", ranks);
  }
  return md_comm_serial(comm);
}

bool md_is_launched(void) { return false; }

void md_describe_ranks(char *text, size_t size)
{
  snprintf(text, size,
           "one, as this build has no MPI: it needs mpicc when the program is built (see make info)");
}

#endif
