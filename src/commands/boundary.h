/* The words of the command boundary, which change_box takes too. */
#ifndef MD_SRC_COMMANDS_BOUNDARY_H
#define MD_SRC_COMMANDS_BOUNDARY_H

#include "common/base/error.h"

#include <stdbool.h>

/* Reads p or f for each of three axes. MD_USAGE: another word, or a fixed z in two dimensions. */
md_status md_boundary_read(char *const word[3], int dim, bool periodic[3]) MD_CHECKED;

#endif
