/* An output file that all ranks write: plain text, or gzip if its name ends in .gz.
 *
 * Every rank writes its own part. A write takes bytes from each rank and puts them into the file in the order of
 * ranks. Text that stands once in a file, such as a title, is written by rank 0 alone (md_output_write_once). No
 * rank gathers data of the others. Functions and their errors are collective unless they say otherwise.
 *
 * Every write, flush and close is checked, so a full disk is an error that names the file, and never a short file
 * that looks complete.
 *
 * A gzip file is one member, which gzip and every library can read. Its bytes depend on the pieces of text in
 * which it is written, but not on the ranks and threads that write them. Several threads may pack pieces at the
 * same time (md_output_pack); the pieces are written in order afterwards.
 */
#ifndef MD_SRC_FILES_OUTPUT_STREAM_H
#define MD_SRC_FILES_OUTPUT_STREAM_H

#include "common/ranks/comm.h"
#include "src/deck/text.h"

typedef struct md_output md_output;

/* The state of the text in a gzip file, which is needed to continue its member. length -1: unknown. */
typedef struct md_gzip_state {
  uint32_t crc;
  int64_t length;
} md_gzip_state;

/* A piece of text. md_output_pack replaces the text by its packed form, and sets crc and length of the original. */
typedef struct md_output_piece {
  md_text text;
  uint32_t crc;
  int64_t length;
} md_output_piece;

/* Opens `path`, and truncates it or appends to it. The caller closes *output before the communicator ends.
 * MD_RUNTIME: the file cannot be written, or is a gzip file of this program that ends within a frame. */
md_status md_output_open(md_comm *comm, md_output **output, const char *path, bool append) MD_CHECKED;

/* Opens a file that was truncated to its length after an earlier md_output_settle. state: the state at that time. */
md_status md_output_resume(md_comm *comm, md_output **output, const char *path,
                           const md_gzip_state *state) MD_CHECKED;

/* Whether the file is empty: nothing was in it when it was opened, and nothing was written since. Of writes, a
 * rank knows its own part and text that was written once. Not collective. */
bool md_output_empty(const md_output *output);

/* Writes n bytes of each rank, in the order of ranks. */
md_status md_output_write(md_output *output, const char *bytes, size_t n) MD_CHECKED;

/* Writes the text of rank 0, and empties the text of every rank. */
md_status md_output_write_once(md_output *output, md_text *text) MD_CHECKED;

/* md_output_write in two steps. md_output_pack packs a piece of a gzip file and leaves the bytes of a plain file
 * unchanged. Several threads may pack different pieces; a failure is remembered in the text. It is not collective.
 * md_output_write_packed writes the n pieces of each rank, one after the other. With several ranks it first joins
 * the pieces, which takes memory for a copy. */
void md_output_pack(const md_output *output, md_output_piece *piece);
md_status md_output_write_packed(md_output *output, const md_output_piece *piece, int n) MD_CHECKED;

/* Completes the file up to here, also as gzip. It stays complete if the program is killed before the next write. */
md_status md_output_settle(md_output *output) MD_CHECKED;

/* The state of a gzip file after settle or flush; length -1: it is no gzip file. Not collective. */
md_gzip_state md_output_state(const md_output *output);

/* Gives all data to the system. The file is then complete up to here. */
md_status md_output_flush(md_output *output) MD_CHECKED;

/* Closes the file, frees *output in any case and sets it to NULL. NULL is allowed. */
md_status md_output_close(md_output **output) MD_CHECKED;

/* Closes the file after work that ended with this status. The first error is the cause of later ones: so that of the
 * work is reported, or else that of closing. */
md_status md_output_end(md_output **output, md_status status) MD_CHECKED;

/* MD_RUNTIME: a file of this name cannot be written, because its directory is missing or not writable, or because
 * it is itself a directory. Creates nothing. Not collective. */
md_status md_output_check_path(const char *path) MD_CHECKED;

#endif
