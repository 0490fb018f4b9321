/* Variables of style atomfile: values of particles by id, in sets that follow each other in a file. */
#ifndef MD_SRC_FORMULA_ATOMFILE_H
#define MD_SRC_FORMULA_ATOMFILE_H

#include "common/base/error.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct md_atomfile md_atomfile;

/* Opens a file and reads its first set. *made: the caller ends with md_atomfile_close; NULL after an error. MD_USAGE: a
 * line is wrong ("name:line: ..."), or there is no set. MD_RUNTIME: the file cannot be read, or out of memory. */
md_status md_atomfile_open(md_atomfile **made, const char *path) MD_CHECKED;
void md_atomfile_close(md_atomfile *file);

/* Reads the next set, which replaces the present one. *ended: there is none. Errors as above. */
md_status md_atomfile_next(md_atomfile *file, bool *ended) MD_CHECKED;

/* The value of an id; 0 for an id that the set has not. */
double md_atomfile_value(const md_atomfile *file, int64_t id);

#endif
