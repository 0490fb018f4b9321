/* The files of the command `print`, and how far they are written, for --resume.
 *
 * A job that was killed may have printed lines after its last restart, and a job that goes on from this restart prints
 * the same lines again. Such a file is not cut to its length at the restart, as that of a dump is, because other jobs
 * may append to it too. Instead:
 * 1. A restart holds the length of each such file. The names are those that the preview of the deck finds, as a file
 *    may get its first line after the restart. While a resumed job passes lines of the killed one, the length is that
 *    of the lines passed.
 * 2. A resumed job looks for each text that it would append from there on. A text that is found is not appended, and
 *    the next one is looked for after it.
 * 3. Once a text is missing, the file has no more lines of the killed job, and all later ones are appended. If the file
 *    ends with the first letters of that text only, the killed job has written these, and they are cut off before.
 * Files that are compressed are only appended to.
 *
 * Cost: a restart looks at the length of each file; a resumed job reads what the files got after the restart.
 */
#ifndef MD_SRC_FILES_PRINTED_FILES_H
#define MD_SRC_FILES_PRINTED_FILES_H

#include "common/base/error.h"
#include <stdbool.h>
#include <stdint.h>

enum { MD_PRINTED_NAME = 1024 };

typedef struct md_printed_file {
  char name[MD_PRINTED_NAME];
  int64_t from; /* where the next text is looked for; -1: nowhere, it is appended */
} md_printed_file;

typedef struct md_printed {
  int n;
  md_printed_file *file; /* [n] */
} md_printed;

/* Notes that print writes this file. *file: receives its entry, valid until the next call; NULL if the name is too
 * long or that of a compressed file. MD_RUNTIME: out of memory. */
md_status md_printed_note(md_printed *printed, const char *name, md_printed_file **file) MD_CHECKED;

void md_printed_free(md_printed *printed);

/* The bytes up to which the file has the lines of this job: those that the next text is looked for after, or all; -1:
 * there is no file. */
int64_t md_printed_end(const md_printed_file *file);

/* Looks for the text, as whole lines, from file->from on. Moves file->from past it, or sets it to -1 and cuts off a
 * beginning of the text at the end of the file. MD_RUNTIME: that cannot be cut off. */
md_status md_printed_find(md_printed_file *file, const char *text, bool *found) MD_CHECKED;

#endif
