/* A text file of a potential, read into memory at once: lines, and numbers that stand in any lines.
 *
 * Trade-off: such files have at most some megabytes, and memory is simpler to go back and forth in than a stream.
 */
#ifndef MD_SRC_POTENTIAL_TEXT_FILE_H
#define MD_SRC_POTENTIAL_TEXT_FILE_H

#include "src/sim.h"

/* A file in memory, and how far it is read. The caller frees `text`. */
typedef struct md_text_file {
  const char *path;
  char *text, *at;
  int line; /* of `at`, from 1 */
} md_text_file;

/* Opens the file, or the one of this name in the folder of the environment variable LAMMPS_POTENTIALS. MD_USAGE: there
 * is none. MD_RUNTIME: it cannot be read. */
md_status md_text_file_open(md_sim *sim, const char *path, md_text_file *f) MD_CHECKED;

/* An error that names the file and the present line. */
md_status md_text_file_wrong(const md_text_file *f, const char *what) MD_CHECKED;

/* The rest of the present line, which ends there from now on; the next one is then the present. */
char *md_text_file_line(md_text_file *f);

/* The next number, or n of them. MD_USAGE: there is none, or it is not finite. */
md_status md_text_file_number(md_text_file *f, double *value) MD_CHECKED;
md_status md_text_file_numbers(md_text_file *f, double *value, int64_t n) MD_CHECKED;

/* A table of n numbers, which ends with its line. MD_USAGE: as above, or its last line goes on. */
md_status md_text_file_table(md_text_file *f, double *value, int64_t n) MD_CHECKED;

/* MD_USAGE: another number follows. */
md_status md_text_file_end(md_text_file *f) MD_CHECKED;

#endif
