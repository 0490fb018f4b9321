/* Pair style table: its words, and its files. */
#ifndef MD_SRC_POTENTIAL_TABLE_FILE_H
#define MD_SRC_POTENTIAL_TABLE_FILE_H

#include "common/pair/pair.h"
#include "src/potential/text_file.h"

/* Reads the section of a file that begins with the keyword. The caller frees *values with md_table_values_free.
 * MD_USAGE: there is no such section, or it is malformed; the message names file and line. */
md_status md_table_read(md_text_file *f, const char *keyword, md_table_values *values) MD_CHECKED;

/* The words of pair_style after the name, STYLE N, as parameters of the style: value[2]. */
md_status md_table_style(const md_words *words, int first, double *value) MD_CHECKED;

/* pair_coeff: words after the command. Gives a table to *pair, which is the pair style of the simulation or a
 * sub-style of it. All ranks read the file. */
md_status md_table_coeff(md_sim *sim, md_pair *pair, const md_words *words) MD_CHECKED;

#endif
