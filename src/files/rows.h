/* A line of text for each particle of all ranks, in one file: what frames of dumps and sections of data files are.
 *
 * Lines are made in blocks by several threads, each block in a buffer of its own and, for a gzip file, packed there;
 * then the blocks are written in order. So the bytes do not depend on the number of threads, nor, sorted by id
 * (by_id.h), on the number of ranks. Memory is bounded by some tens of megabytes a rank, whatever the number of
 * particles.
 */
#ifndef MD_SRC_FILES_ROWS_H
#define MD_SRC_FILES_ROWS_H

#include "src/files/output_stream.h"
#include "src/particles/by_id.h"

/* Adds the lines of rows [first, first + count) to the text; several threads may do different rows. */
typedef void (*md_row_format)(const void *context, const md_rows *rows, int64_t first, int64_t count,
                              md_text *text);

/* Writes the lines of all ranks' rows, on `threads` threads, 0: all. With an order, which must be that of ids, by id
 * over all ranks; without one, each rank's own particles in turns, which is sorted in no way. Collective.
 * MD_RUNTIME: disk full, out of memory, ... */
md_status md_rows_write(md_comm *comm, const md_rows *rows, int threads, md_row_format format,
                        const void *context, md_output *output) MD_CHECKED;

#endif
