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
  /* Opens one file of all ranks for writing. append: writing begins behind what the file holds; else the file
   * becomes empty. *bytes: how many bytes it holds then. The caller closes it with `close`. Errors here and in
   * the functions below are the same on every rank. */
  md_status (*open)(md_comm *, const char *path, bool append, md_comm_file **, int64_t *bytes) MD_CHECKED;
  /* Writes n bytes of each rank behind the end of the file, in the order of ranks. n may differ from rank to rank. */
  md_status (*append)(md_comm *, md_comm_file *, const void *bytes, int64_t n) MD_CHECKED;
  /* Goes back by n bytes, the same n on every rank: the next append overwrites the last n bytes of the file. */
  md_status (*back)(md_comm *, md_comm_file *, int64_t n) MD_CHECKED;
  /* Gives all appended bytes to the system, and returns the errors of doing so. */
  md_status (*flush)(md_comm *, md_comm_file *) MD_CHECKED;
  /* Closes the file, and frees it also after an error. */
  md_status (*close)(md_comm *, md_comm_file *) MD_CHECKED;

  /* For opening one HDF5 file on all ranks: returns a file access property list of the HDF5 library (a hid_t), which
   * the caller closes. -1: this HDF5 library cannot do that. Not collective. */
  int64_t (*hdf5_access)(md_comm *);
};

#ifdef __cplusplus
}
#endif
#endif
