/* Ranges of values of particles in lists of words: c_ID[*], c_ID[2*4], f_ID[*] and the like. */
#ifndef MD_SRC_FORMULA_VALUE_RANGES_H
#define MD_SRC_FORMULA_VALUE_RANGES_H

#include "src/sim.h"

/* Writes every range of a compute or fix with several values for each particle out as c_ID[1], c_ID[2] and so on, and
 * copies the other words. The caller ends with md_value_ranges_free, also after an error. MD_USAGE: a range is beyond
 * the values. MD_RUNTIME: out of memory. */
md_status md_value_ranges_write(const md_sim *sim, const md_words *words, md_words *written) MD_CHECKED;
void md_value_ranges_free(md_words *written);

#endif
