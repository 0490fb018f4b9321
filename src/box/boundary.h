/* The words of the command boundary, which change_box takes and dumps print. */
#ifndef MD_SRC_BOX_BOUNDARY_H
#define MD_SRC_BOX_BOUNDARY_H

#include "common/base/error.h"
#include "common/box.h"

/* Reads the boundaries of the three axes into `box`: p, or f, s or m for both faces, or two such letters, the lower
 * face first. box->dim is set. Changes nothing else of the box. MD_USAGE: another word, or an axis that is periodic
 * on one side only, or no p along z in two dimensions. */
md_status md_boundary_read(char *const word[3], md_box *box) MD_CHECKED;

/* The letters of the faces of an axis, as dumps name them: pp, ff, ss, mm, fs ... */
void md_boundary_letters(const md_box *box, int axis, char letters[3]);

#endif
