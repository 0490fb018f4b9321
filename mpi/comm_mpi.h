/* The communicator over MPI, for the program: starting MPI, and its name. */
#ifndef MD_MPI_COMM_MPI_H
#define MD_MPI_COMM_MPI_H

#include "common/ranks/comm.h"

/* Starts MPI and makes the communicator of all ranks. The caller owns it, and its destroy ends MPI. MD_RUNTIME: no
 * memory, an MPI call failed, the library lacks the thread level, or the launcher started ranks that do not see one
 * another. After an error *comm is either unchanged or a communicator that the caller must destroy. */
md_status md_comm_mpi(md_comm **comm) MD_CHECKED;

/* Name and version of the MPI library in one line, for `myriad info`. Static. */
const char *md_mpi_library(void);

#endif
