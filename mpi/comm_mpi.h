/* The communicator over MPI, for src/main.c. */
#ifndef MD_MPI_COMM_MPI_H
#define MD_MPI_COMM_MPI_H

#include "common/ranks/comm.h"

/* Whether this process was started by mpirun, srun or the like, as the environment tells. */
bool md_mpi_launched(void);

/* Starts MPI and makes the communicator of all ranks; its destroy ends MPI. MD_RUNTIME: the library lacks the thread
 * level, or the launcher started ranks that do not see one another. */
md_status md_comm_mpi(md_comm **comm) MD_CHECKED;

/* The library, for `myriad info`: its name and version in one line. Not to be freed. */
const char *md_mpi_library(void);

#endif
