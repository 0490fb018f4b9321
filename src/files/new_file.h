/* Files that appear under their name only when they are complete.
 *
 * Such a file is written under a temporary name in the same directory, NAME.hhhhhhhhhhhh.tmp, and renamed at the end.
 * The temporary file is created exclusively: a name that exists, also as a symbolic link, is never opened, and two
 * programs that write the same file do not meet. A name of more than 200 characters is cut in the temporary one.
 * A device, a pipe or another special file cannot be replaced by renaming a file to it: it is written as it is.
 */
#ifndef MD_SRC_FILES_NEW_FILE_H
#define MD_SRC_FILES_NEW_FILE_H

#include "common/ranks/comm.h"

typedef struct md_new_file {
  const char *name; /* the caller's, which outlives this */
  char *path;       /* what to write to: the temporary file, or `name` itself */
  bool in_place;    /* the latter */
} md_new_file;

/* Creates the temporary file, empty, on this rank alone. MD_RUNTIME: the directory is missing, ... */
md_status md_new_file_begin(md_new_file *file, const char *name) MD_CHECKED;

/* The same on all ranks, with the same path and status: rank 0 creates the file, and the others may open it. */
md_status md_new_file_begin_together(md_comm *comm, md_new_file *file, const char *name) MD_CHECKED;

/* After writing ended with `status`: renames the file, or removes it if that is an error. Frees what begin made. Of
 * several ranks only rank 0 calls this, and the others md_new_file_forget. Returns `status`, or MD_RUNTIME. */
md_status md_new_file_end(md_new_file *file, md_status status) MD_CHECKED;
void md_new_file_forget(md_new_file *file);

/* Whether `name` is there and no regular file: a device, a pipe, a directory. Not collective. */
bool md_file_is_special(const char *name);

/* MD_RUNTIME if `name` is special, as `what` ("a restart") can be in a regular file only. Not collective. */
md_status md_file_need_regular(const char *name, const char *what) MD_CHECKED;

#endif
