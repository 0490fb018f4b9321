/* A look at a command that is not executed, as in a branch of `if` that is not taken: is its name known, the number of
 * its words right, and its style known? For `myriad check`. */
#ifndef MD_SRC_SCRIPT_GLANCE_H
#define MD_SRC_SCRIPT_GLANCE_H

#include "common/base/error.h"

/* Judges the name of the command in `text`, the number of its words, and the style of pair_style, fix, compute and
 * dump. Commands within `if` are judged too. Variables are not replaced: a word with a $ is accepted as it stands, and
 * so is any number of words beside it. MD_USAGE: the command would be refused. */
md_status md_glance(const char *text) MD_CHECKED;

#endif
