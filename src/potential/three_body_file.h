/* The files of three-body potentials, for pair_coeff. */
#ifndef MD_SRC_POTENTIAL_THREE_BODY_FILE_H
#define MD_SRC_POTENTIAL_THREE_BODY_FILE_H

#include "common/pair/three_body/three_body.h"
#include "src/potential/text_file.h"

/* Reads the entries of the elements that *values names, and allocates values->value, which the caller frees. Entries of
 * other elements are read and left out. MD_USAGE: an entry is malformed, is missing, or is there twice; the message
 * names file and line. MD_RUNTIME: out of memory. */
md_status md_three_body_read(md_text_file *f, md_three_values *values) MD_CHECKED;

/* pair_coeff of a three-body style: words after the command, * * FILE ELEMENT ..., in which NULL is no element.
 * MD_USAGE: as above, and if md_three_body_new refuses the values. All ranks read the file. */
md_status md_three_body_coeff(md_sim *sim, const md_words *words) MD_CHECKED;

#endif
