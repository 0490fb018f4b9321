/* A checked output file of all ranks: plain, or gzip if its name ends in .gz.
 *
 * Every rank writes its own part: a write takes bytes from each and puts them into the file in the order of ranks,
 * wherever they come from. What stands once in a file, such as a title, rank 0 writes alone (md_output_write_once).
 * Nothing is gathered. Functions are collective unless they say otherwise, and so are their errors.
 *
 * Every write, flush and close is looked at, so a full disk is an error naming the file and never a short file that
 * looks complete. A gzip file is one member, which gzip and every library read, and its bytes depend on the pieces of
 * text that it is written in, but not on who writes them. Pieces may be packed by several threads at once
 * (md_output_pack) and written in order afterwards.
 */
#ifndef MD_SRC_FILES_OUTPUT_STREAM_H
#define MD_SRC_FILES_OUTPUT_STREAM_H

#include "common/ranks/comm.h"
#include "src/deck/text.h"

typedef struct md_output md_output;

/* Of the text in a gzip file: what going on with its member takes. length -1: not known. */
typedef struct md_gzip_state {
  uint32_t crc;
  int64_t length;
} md_gzip_state;

/* Some text, and once it is packed what it was before. */
typedef struct md_output_piece {
  md_text text;
  uint32_t crc;
  int64_t length;
} md_output_piece;

/* Opens `path`, truncating it or appending to it. MD_RUNTIME: cannot be written, or is a gzip file of ours that ends
 * within a frame. The caller closes *output, before
 * the communicator ends. */
md_status md_output_open(md_comm *comm, md_output **output, const char *path, bool append) MD_CHECKED;

/* Opens a file that was cut to a length that it had behind md_output_settle, when its state was this. */
md_status md_output_resume(md_comm *comm, md_output **output, const char *path,
                           const md_gzip_state *state) MD_CHECKED;

/* Whether nothing is in the file yet, neither before it was opened nor since; of what was written since, a rank knows
 * its own part and what was written once. Not collective. */
bool md_output_empty(const md_output *output);

/* Writes n bytes of each rank, in the order of ranks. */
md_status md_output_write(md_output *output, const char *bytes, size_t n) MD_CHECKED;

/* Writes the text of rank 0 and empties it; other ranks' texts are emptied alone. */
md_status md_output_write_once(md_output *output, md_text *text) MD_CHECKED;

/* What write does, in two steps: pack may run on several threads for different pieces (a plain file's bytes stay as
 * they are; a failure is remembered in the text) and is not collective; write_packed writes the n pieces of each
 * rank, one behind the other. Several ranks' pieces are joined first, which takes memory for a copy of them. */
void md_output_pack(const md_output *output, md_output_piece *piece);
md_status md_output_write_packed(md_output *output, const md_output_piece *piece, int n) MD_CHECKED;

/* The file is whole up to here, also as gzip, and stays so if the program is killed before the next write. */
md_status md_output_settle(md_output *output) MD_CHECKED;

/* Of a gzip file, behind settle or flush; length -1 if it is none. Not collective. */
md_gzip_state md_output_state(const md_output *output);

/* Hands everything to the system: the file is complete up to here. */
md_status md_output_flush(md_output *output) MD_CHECKED;

/* Closes and frees *output in any case and sets it to NULL; NULL is allowed. */
md_status md_output_close(md_output **output) MD_CHECKED;

/* MD_RUNTIME if a file of this name cannot be written: its directory is missing or closed to us, or it is itself a
 * directory. Creates nothing. Not collective. */
md_status md_output_check_path(const char *path) MD_CHECKED;

#endif
