/* Styles of LAMMPS's accelerator packages: lj/cut/gpu is the style lj/cut, computed by other code.
 *
 * The option --engine chooses here what computes, so that such a suffix has no effect and is dropped.
 * Reference: the LAMMPS manual, section "Accelerate performance", and the command suffix.
 */
#ifndef MD_SRC_DECK_SUFFIX_H
#define MD_SRC_DECK_SUFFIX_H

#include "src/sim.h"

/* The suffixes, without the slash: gpu, intel and so on. */
enum { MD_SUFFIXES = 5 };
extern const char *const md_suffix_names[MD_SUFFIXES];

/* Notes once that suffixes have no effect. */
void md_suffix_explain(md_sim *sim);

/* Drops the suffixes of the styles that a command names; a note says so once. Changes the strings of words. */
void md_suffix_drop(md_sim *sim, const md_words *words);

#endif
