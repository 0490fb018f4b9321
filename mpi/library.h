/* Which MPI library a file is compiled with: program and GPU engine hand each other its handles. */
#ifndef MD_MPI_LIBRARY_H
#define MD_MPI_LIBRARY_H

#include <mpi.h>

#define MD_MPI_TEXT(x) #x
#define MD_MPI_NUMBER(x) MD_MPI_TEXT(x)

/* Versions within these have the same handles; MPICH's are also those of its descendants. */
#if defined OPEN_MPI
#define MD_MPI_LIBRARY "Open MPI " MD_MPI_NUMBER(OMPI_MAJOR_VERSION)
#elif defined MPICH_VERSION || defined I_MPI_VERSION
#define MD_MPI_LIBRARY "MPICH or alike"
#else
#define MD_MPI_LIBRARY "MPI " MD_MPI_NUMBER(MPI_VERSION)
#endif

#endif
