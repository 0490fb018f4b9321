/* Reading the text dumps of styles custom and atom, Myriad's and LAMMPS's: one snapshot after the other, row by row. */
#ifndef MD_SRC_REPLAY_SNAPSHOTS_H
#define MD_SRC_REPLAY_SNAPSHOTS_H

#include "common/base/error.h"
#include <stdint.h>

typedef struct md_snapshot {
  int64_t step, n;     /* n: rows */
  double lo[3], hi[3]; /* the box */
  int ncolumn;
  char **column; /* names */
} md_snapshot;

typedef struct md_snapshots md_snapshots;

/* MD_RUNTIME: one of n files cannot be opened. */
md_status md_snapshots_check_files(int n, char *const *path) MD_CHECKED;

/* Begins to read n files as one. The caller ends with md_snapshots_close, also after an error. MD_RUNTIME: the first
 * cannot be opened, or out of memory. */
md_status md_snapshots_open(md_snapshots **snapshots, int n, char *const *path) MD_CHECKED;
void md_snapshots_close(md_snapshots *snapshots);

/* Goes to the next snapshot. *snapshot is valid until the next call; NULL: there is none. MD_USAGE: the file is no such
 * dump ("name:line: ..."). MD_RUNTIME: a file cannot be read. */
md_status md_snapshots_next(md_snapshots *snapshots, const md_snapshot **snapshot) MD_CHECKED;

/* The next row of the snapshot: ncolumn words, valid until the next call. MD_USAGE: it has another number of words, or
 * the file ends. */
md_status md_snapshots_row(md_snapshots *snapshots, char ***word) MD_CHECKED;

/* After the last row: MD_USAGE if another row follows. Snapshots cannot be read any more. */
md_status md_snapshots_end(md_snapshots *snapshots) MD_CHECKED;

/* Goes back to the first row of the snapshot. MD_RUNTIME: the file cannot be read again. */
md_status md_snapshots_rewind(md_snapshots *snapshots) MD_CHECKED;

/* MD_USAGE with "name:line: " in front of the message: what is wrong with the line that was read last. */
md_status md_snapshots_wrong(const md_snapshots *snapshots, const char *message) MD_CHECKED;

#endif
