/* The words of pair styles hybrid and hybrid/overlay, and how those of one style are read. */
#ifndef MD_SRC_POTENTIAL_HYBRID_WORDS_H
#define MD_SRC_POTENTIAL_HYBRID_WORDS_H

#include "common/pair/hybrid/hybrid.h"
#include "src/sim.h"

/* pair_style, pair_coeff and pair_modify of these styles; the words after the command. MD_USAGE: an unknown or unfit
 * sub-style, a missing number of one that is there several times, or what the sub-style itself refuses. */
md_status md_hybrid_style(md_sim *sim, const md_words *words) MD_CHECKED;
md_status md_hybrid_coeff(md_sim *sim, const md_words *words) MD_CHECKED;
md_status md_hybrid_modify(md_sim *sim, const md_words *words) MD_CHECKED;

/* cmd_pair.c: one style, and its values. words: the name, and what follows it. MD_USAGE: there is no such style, or the
 * values are no numbers. */
md_status md_pair_read_style(md_sim *sim, const md_words *words, md_sub_style *style) MD_CHECKED;

/* cmd_pair.c: *made, which was started with this status, becomes *pair, and the pair before it is freed; after an error
 * *made is freed. Returns the status. */
md_status md_pair_replace(md_pair *pair, md_pair *made, md_status status) MD_CHECKED;

/* cmd_pair.c: coefficients for *pair, which is the pair style of the simulation or a sub-style of it, and has no
 * density. words: I J and what follows. MD_USAGE: as md_pair_set, and wrong words. */
md_status md_pair_read_coeff(md_sim *sim, md_pair *pair, const md_words *words) MD_CHECKED;

/* cmd_pair.c: keywords and values of pair_modify for one style. */
md_status md_pair_modify(md_pair *pair, const md_words *words) MD_CHECKED;

#endif
