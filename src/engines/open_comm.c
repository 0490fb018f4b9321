/* The communicator of this process; see open_comm.h. Only this file depends on whether the build has MPI. */
#include "src/engines/open_comm.h"
#include "common/ranks/launched.h"

#include <stdio.h>

#ifdef MD_WITH_MPI
#include "mpi/comm_mpi.h"

/* A program that no launcher started gets one rank, and does not start MPI. */
md_status md_open_comm(md_comm **comm)
{
  return md_was_launched() ? md_comm_mpi(comm) : md_comm_serial(comm);
}

void md_describe_ranks(char *text, size_t size)
{
  snprintf(text, size, "%s; start them with mpirun -n P", md_mpi_library());
}

#else

md_status md_open_comm(md_comm **comm)
{
  if (md_launched_ranks() > 1)
    return md_error(MD_RUNTIME,
                    "started as %ld ranks, but this build has no MPI: build it where mpicc is found",
                    md_launched_ranks());
  return md_comm_serial(comm);
}

void md_describe_ranks(char *text, size_t size)
{
  snprintf(text, size,
           "one, as this build has no MPI: it needs mpicc when the program is built (see make info)");
}

#endif
