/* The conditions of the command if: numbers and words, compared and combined, as in LAMMPS.
 *
 * A number begins with a digit, a point or a minus sign. A word begins with a letter or _ and goes on with these,
 * digits, points, slashes and minus signs. From the loosest to the tightest: || |^, &&, == !=, < <= > >=, ! of one
 * operand; also parentheses. All group from left to right. Words may only be compared by == and !=, with words.
 */
#ifndef MD_SRC_SCRIPT_CONDITION_H
#define MD_SRC_SCRIPT_CONDITION_H

#include "common/base/error.h"
#include <stdbool.h>

/* Evaluates a condition whose variables were replaced. MD_USAGE: it cannot be understood; the message quotes it. */
md_status md_condition_evaluate(const char *condition, bool *value) MD_CHECKED;

#endif
