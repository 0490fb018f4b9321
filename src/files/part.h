/* Parts of the program that are libraries of their own: the GPU engine, and the files of HDF5. A part is loaded when it
 * is asked for. So the program runs without what the part needs, and does not wait for it at its start.
 *
 * Part and program call each other's functions and share structures, so both must come from the same sources. Each
 * contains a digest of these sources. The program compares the part's digest before it uses anything else of the part.
 * A part stays loaded until the program ends. */
#ifndef MD_SRC_FILES_PART_H
#define MD_SRC_FILES_PART_H

#include "common/base/error.h"

#include <stdbool.h>

typedef struct md_part {
  const char *file; /* the library's file name */
  /* the one symbol that the program uses; its first member is the digest, a const char * */
  const char *symbol;
  const char *variable; /* the environment variable that may name another file */
  const char *name;     /* for messages */
  const char *made;     /* which command builds it, and what that needs, for messages */
  const void *loaded;   /* what the symbol names; NULL: not loaded */
} md_part;

/* Finds and loads the part, once, and sets part->loaded. The library is the file that the environment variable names;
 * otherwise a file beside the program (or beside libmyriad.so), or in ../lib/myriad or myriad from there. If the
 * program has the symbol itself, there is nothing to load. MD_USAGE: there is no such file. MD_RUNTIME: it cannot be
 * loaded, or was built from other sources. The message says what to do. */
md_status md_part_load(md_part *part) MD_CHECKED;

/* Whether there is such a file or symbol. Nothing is loaded. */
bool md_part_is_here(const md_part *part);

#endif
