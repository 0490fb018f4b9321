/* Which files a program reads and writes, so that two uses of one file are refused before anything is lost.
 *
 * Files are told apart by device and inode, and those that are not there yet by those of their folder and their name:
 * so a, ./a and a link to it are one file. A name with a * stands for the files of all steps. Devices, pipes and
 * sockets are no files in this sense: two outputs may go to /dev/null.
 */
#ifndef MD_SRC_FILES_FILE_USES_H
#define MD_SRC_FILES_FILE_USES_H

#include "common/base/error.h"
#include <stdio.h>

typedef enum md_file_role {
  MD_FILE_DECK,
  MD_FILE_OUT, /* standard output */
  MD_FILE_SCREEN,
  MD_FILE_LOG,
  MD_FILE_READ_DATA,
  MD_FILE_READ_RESTART,
  MD_FILE_DUMP,
  MD_FILE_RESTART,
  MD_FILE_WRITE_DATA,
  MD_FILE_WRITE_RESTART,
  MD_FILE_PRINT
} md_file_role;

typedef struct md_file_uses md_file_uses;

/* The caller frees *uses. MD_RUNTIME: out of memory. */
md_status md_file_uses_new(md_file_uses **uses) MD_CHECKED;
void md_file_uses_free(md_file_uses *uses);

/* Notes that a file is going to be used, before it is opened; id tells several uses of a role apart, or is NULL. Decks,
 * screen, logs, dumps and restarts are in use until md_file_unuse; the others only at once, and may be written again in
 * the same role. MD_USAGE: it is another use's file, and the message names both. With `uses` NULL nothing is noted. */
md_status md_file_use(md_file_uses *uses, md_file_role role, const char *id, const char *path) MD_CHECKED;
md_status md_file_use_stream(md_file_uses *uses, md_file_role role, FILE *file) MD_CHECKED;

/* The uses of that role and id have ended: the role may write to their files again. */
void md_file_unuse(md_file_uses *uses, md_file_role role, const char *id);

#endif
