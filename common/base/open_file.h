/* Opening files without waiting for ever, and without two runs that write one file at the same time.
 *
 * A pipe with a name (FIFO) has another end, and there may be no program at this end. Both functions wait two seconds
 * for a program there, so that the two programs may be started in any order. Then they fail with ENXIO. */
#ifndef MD_COMMON_BASE_OPEN_FILE_H
#define MD_COMMON_BASE_OPEN_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* Open a file and return a stream, which the caller closes. NULL: an error, and errno says why. append: writes
 * after what the file holds; else the file becomes empty. A regular file that is opened for writing is locked, by
 * md_lock_file, until it is closed. */
FILE *md_open_write(const char *path, bool append);
FILE *md_open_read(const char *path);

/* As md_open_write, without a lock: for a file that this process has open and locked already. */
FILE *md_open_shared(const char *path, bool append);

/* Locks an open file until it is closed; only regular files are locked. Waits three seconds for another program that
 * has locked it, which may be the run before this one at its end. False: it still is locked, errno is EWOULDBLOCK. */
bool md_lock_file(int file);

/* The path with "./" in front of a name without a directory, for MPI-IO: that takes `word:` at the beginning of a name
 * for a file system, and Open MPI 4.1 fails on names of one letter. The caller frees it. NULL: out of memory. */
char *md_path_for_mpi(const char *path);

/* Text for the errno of a file that could not be opened. Valid until the next call. */
const char *md_open_reason(int reason);

#endif
