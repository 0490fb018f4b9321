/* Variables and formulas of the deck language.
 *
 * A variable has one of three styles:
 *   index    a text; -var may replace it. Of several values only the first is used, since there is no `next`.
 *   equal    a formula, evaluated each time the variable is read
 *   string   a text
 *
 * $x, ${name} and $(formula) are replaced in a line before the line is split into words. $(formula:%format) prints
 * with a format. A formula has these operators, from the loosest to the tightest:
 *   || |^    &&    == !=    < <= > >=    + -    * / %    ^    - ! of one operand
 * All group from left to right (2^3^2 = 64, -2^2 = 4, as in LAMMPS). A formula may contain parentheses; the
 * functions sqrt exp ln log (of base 10) abs sin cos tan asin acos atan atan2(y,x) floor ceil round
 * random(lo,hi,seed); the constants PI yes no true false on off; v_name; and the thermo keywords (step, temp, pe,
 * ..., lx, vol, atoms, dt), which `keyword` looks up. random draws from one sequence, so all ranks must evaluate
 * the same formulas in the same order.
 */
#ifndef MD_SRC_FORMULA_VARIABLE_H
#define MD_SRC_FORMULA_VARIABLE_H

#include "common/base/error.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct md_variables md_variables;

/* Looks up a thermo keyword and sets *value. *known = false: there is no such keyword. A status other than MD_OK
 * is an error such as "temp is not known before the first run". */
typedef md_status (*md_keyword_lookup)(void *context, const char *name, double *value, bool *known);

md_status md_variables_new(md_variables **variables, md_keyword_lookup keyword, void *context) MD_CHECKED;
void md_variables_free(md_variables *variables);

/* Defines an index variable from `-var name value...` of the command line. The deck's own `variable NAME index`
 * does not replace it. A later definition of another style is MD_USAGE, as in LAMMPS. */
md_status md_variables_preset(md_variables *variables, const char *name, int nvalue,
                              char *const *value) MD_CHECKED;

/* Executes the `variable` command. word: name, style, arguments. */
md_status md_variables_define(md_variables *variables, int nword, char *const *word) MD_CHECKED;

/* Evaluates a formula. MD_USAGE: unknown name, division by zero, circular reference, syntax error or NaN; the
 * message names the faulty part. */
md_status md_variables_formula(md_variables *variables, const char *formula, double *value) MD_CHECKED;

/* Replaces every $ reference of `line`, except inside quotes (quote.h), as LAMMPS does. A quote that is never
 * closed counts as a letter. Replaced text is not searched again. The caller frees *out. MD_USAGE: an undefined
 * variable, a bad format, or more than 1 MiB of text. */
md_status md_variables_substitute(md_variables *variables, const char *line, char **out) MD_CHECKED;

/* The name of the k-th variable (from 0) of -var that the deck has neither read nor defined; NULL beyond the last. */
const char *md_variables_unused(const md_variables *variables, int k);

#endif
