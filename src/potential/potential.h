/* The files of potentials with a density, for pair_coeff. */
#ifndef MD_SRC_POTENTIAL_POTENTIAL_H
#define MD_SRC_POTENTIAL_POTENTIAL_H

#include "src/sim.h"

/* pair_coeff of a style with a density: words after the command. Gives the types their elements, and their masses.
 * MD_USAGE: the file is not of this format, an element is not in it, and others; the message names file and place. */
md_status md_potential_coeff(md_sim *sim, const md_words *words) MD_CHECKED;

#endif
