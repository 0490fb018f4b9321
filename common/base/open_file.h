/* Opening files without waiting for ever: a pipe with a name (FIFO) has another end, at which there may be no program.
 * Both wait for it two seconds, so that the two programs may be started in any order, and then fail with ENXIO. */
#ifndef MD_COMMON_BASE_OPEN_FILE_H
#define MD_COMMON_BASE_OPEN_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* A stream that the caller closes; NULL: errno says why. append: behind what is there; else that is lost. */
FILE *md_open_write(const char *path, bool append);
FILE *md_open_read(const char *path);

/* What errno says of a file that could not be opened. */
const char *md_open_reason(int reason);

#endif
