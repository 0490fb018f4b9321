/* New files: files that appear under their name only when they are complete.
 *
 * 1. The file is written under a temporary name in the same directory, NAME.hhhhhhhhhhhh.tmp.
 * 2. At the end it is renamed.
 *
 * The temporary file is created exclusively: an existing name, also a symbolic link, is never opened, and two
 * programs that write the same file do not collide. In the temporary name, NAME is cut to 200 characters. A
 * device, a pipe or another special file cannot be replaced by renaming, so it is written in place.
 */
#ifndef MD_SRC_FILES_NEW_FILE_H
#define MD_SRC_FILES_NEW_FILE_H

#include "common/ranks/comm.h"

typedef struct md_new_file {
  const char *name; /* owned by the caller; must stay valid until md_new_file_end or _forget */
  char *path;       /* path to write to: the temporary file, or `name` itself */
  bool in_place;    /* `path` is `name` itself */
} md_new_file;

/* Creates an empty temporary file, on this rank only. MD_RUNTIME: it cannot be created, for example because the
 * directory is missing. */
md_status md_new_file_begin(md_new_file *file, const char *name) MD_CHECKED;

/* The same for all ranks, with the same path and status: rank 0 creates the file, and the others may open it.
 * Collective. */
md_status md_new_file_begin_together(md_comm *comm, md_new_file *file, const char *name) MD_CHECKED;

/* To call after writing ended with `status`: renames the file, or removes it if `status` is an error. Frees what
 * begin made. Of several ranks only rank 0 calls this function; the others call md_new_file_forget, which only
 * frees. Returns `status`, or MD_RUNTIME if renaming fails. */
md_status md_new_file_end(md_new_file *file, md_status status) MD_CHECKED;
void md_new_file_forget(md_new_file *file);

/* Whether `name` exists and is no regular file but a device, a pipe or a directory. Not collective. */
bool md_file_is_special(const char *name);

/* MD_RUNTIME: `name` exists and is no regular file, which `what` (such as "a restart") needs. Not collective. */
md_status md_file_need_regular(const char *name, const char *what) MD_CHECKED;

#endif
