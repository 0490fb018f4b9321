/* Rows: a line of text for each particle of all ranks, in one file. Frames of dumps and sections of data files are
 * rows.
 *
 * 1. Several threads format rows in blocks, each block in a buffer of its own. For a gzip file they pack it there.
 * 2. The blocks are written in order.
 *
 * So the bytes do not depend on the number of threads. If the rows are sorted by id (src/particles/by_id.h), the bytes
 * do not depend on the number of ranks either. Memory is bounded by some tens of megabytes on each rank, whatever the
 * number of particles.
 */
#ifndef MD_SRC_FILES_ROWS_H
#define MD_SRC_FILES_ROWS_H

#include "src/files/output_stream.h"
#include "src/particles/by_id.h"

/* Adds the lines of rows [first, first + count) to the text. Several threads may format different rows. */
typedef void (*md_row_format)(const void *context, const md_rows *rows, int64_t first, int64_t count,
                              md_text *text);

/* Writes the lines of all ranks' rows with `threads` threads; 0: all. If rows->order is given, it must be the
 * order of ids, and the lines of all ranks are sorted by id. Otherwise the lines are unsorted: the ranks write
 * their own particles in turns. Collective. MD_RUNTIME: the disk is full, memory is short, ... */
md_status md_rows_write(md_comm *comm, const md_rows *rows, int threads, md_row_format format,
                        const void *context, md_output *output) MD_CHECKED;

#endif
