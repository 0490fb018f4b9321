/* Files to which all ranks write their own parts: the part `files` of the communicator (comm.h).
 *
 * Every function is collective unless it says "not collective" (comm.h).
 */
#ifndef MD_COMMON_RANKS_FILES_H
#define MD_COMMON_RANKS_FILES_H

#include "common/ranks/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

struct md_comm_files {
  /* Opens one file of all ranks for writing. append: writing begins after what the file holds; else the file
   * becomes empty. *bytes: how many bytes it holds then. The caller closes it with `close`. Errors here and in
   * the functions below are the same on every rank. */
  md_status (*open)(md_comm *, const char *path, bool append, md_comm_file **, int64_t *bytes) MD_CHECKED;
  /* Writes n bytes of each rank after the end of the file, in the order of ranks. n may differ from rank to rank. */
  md_status (*append)(md_comm *, md_comm_file *, const void *bytes, int64_t n) MD_CHECKED;
  /* Goes back by n bytes, the same n on every rank: the next append overwrites the last n bytes of the file. */
  md_status (*back)(md_comm *, md_comm_file *, int64_t n) MD_CHECKED;
  /* Gives all appended bytes to the system, and returns the errors of doing so. */
  md_status (*flush)(md_comm *, md_comm_file *) MD_CHECKED;
  /* Closes the file, and frees it also after an error. */
  md_status (*close)(md_comm *, md_comm_file *) MD_CHECKED;

  /* For libraries that open one file on all ranks by MPI: the ranks, as an MPI_Comm, which stays the communicator's.
   * NULL: these ranks do not use MPI. Not collective. */
  const void *(*mpi_communicator)(md_comm *);
};

#ifdef __cplusplus
}
#endif
#endif
