/* File uses: a record of the files that a run reads and writes. Two conflicting uses of one file are refused
 * before any data is lost.
 *
 * Files are identified by device and inode. A file that does not exist yet is identified by the device and inode
 * of its folder, and its name. So `a`, `./a` and a link to `a` are one file. A name with a * stands for the files
 * of all steps. Devices, pipes and sockets are not recorded: two outputs may go to /dev/null. Several simulations of
 * one process have a record each, and a file that one of them is writing is refused to the others.
 */
#ifndef MD_SRC_FILES_FILE_USES_H
#define MD_SRC_FILES_FILE_USES_H

#include "common/base/error.h"
#include <stdbool.h>
#include <stdio.h>

typedef enum md_file_role {
  MD_FILE_DECK,
  MD_FILE_INCLUDE, /* include, jump, variable file */
  MD_FILE_OUT,     /* standard output */
  MD_FILE_SCREEN,
  MD_FILE_LOG,
  MD_FILE_READ_DATA,
  MD_FILE_READ_RESTART,
  MD_FILE_POTENTIAL,
  MD_FILE_DUMP,
  MD_FILE_RESTART,
  MD_FILE_WRITE_DATA,
  MD_FILE_WRITE_DUMP,
  MD_FILE_WRITE_RESTART,
  MD_FILE_PRINT,
  MD_FILE_PAIR_WRITE,
  MD_FILE_FIX,
  MD_FILE_FRAME /* -o of myriad frame */
} md_file_role;

typedef struct md_file_uses md_file_uses;

/* Makes an empty record. The caller frees *uses. MD_RUNTIME: out of memory. */
md_status md_file_uses_new(md_file_uses **uses) MD_CHECKED;
void md_file_uses_free(md_file_uses *uses);

/* The record is that of one of several simulations of this process: each compares its files with those of the others.
 * Once for a record. Not thread-safe. */
void md_file_uses_show(md_file_uses *uses);

/* Records that a file is going to be used. Call it before the file is opened. `id` distinguishes several uses of one
 * role, or is NULL. Decks, screen, logs, dumps, restarts, fixes and frames are in use until md_file_unuse. Other
 * roles use their file only at this moment: the same role may write it again later, and another may read it.
 * MD_USAGE: another use has this file; the message names both uses. If `uses` is NULL, nothing is recorded. */
md_status md_file_use(md_file_uses *uses, md_file_role role, const char *id, const char *path) MD_CHECKED;
md_status md_file_use_stream(md_file_uses *uses, md_file_role role, FILE *file) MD_CHECKED;

/* Has the role used this file before, whether it does so now or not? False if `uses` is NULL. */
bool md_file_was_used(const md_file_uses *uses, md_file_role role, const char *path);

/* Does another simulation of this process use the file in this role now? False if `uses` is NULL. */
bool md_file_is_shared(const md_file_uses *uses, md_file_role role, const char *path);

/* Does a role write this file, now or before? False if `uses` is NULL. */
bool md_file_is_written(const md_file_uses *uses, const char *path);

/* Ends the uses of this role and id; NULL: of all ids. The role may then write to their files again. */
void md_file_unuse(md_file_uses *uses, md_file_role role, const char *id);

#endif
