/* The MPI library that a file is compiled with. Program and GPU engine are built separately and give each other
 * handles of MPI, so that both must have the same library. They compare this name. */
#ifndef MD_MPI_LIBRARY_H
#define MD_MPI_LIBRARY_H

#include <mpi.h>

#define MD_MPI_TEXT(x) #x
#define MD_MPI_NUMBER(x) MD_MPI_TEXT(x)

/* All versions with the same name here have the same handles. The descendants of MPICH have the handles of MPICH. */
#if defined OPEN_MPI
#define MD_MPI_LIBRARY "Open MPI " MD_MPI_NUMBER(OMPI_MAJOR_VERSION)
#elif defined MPICH_VERSION || defined I_MPI_VERSION
#define MD_MPI_LIBRARY "MPICH or alike"
#else
#define MD_MPI_LIBRARY "MPI " MD_MPI_NUMBER(MPI_VERSION)
#endif

#endif
