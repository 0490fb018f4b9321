/* Variables and formulas of the deck language.
 *
 * Styles: index (a list of strings; `next` is not needed, the first is used unless -var gave another), equal
 * (a formula, evaluated whenever it is read), string. $x, ${name} and $(formula) are replaced in a line before
 * it is split into words; $(formula:%format) prints with a format. A formula knows, loosest first,
 *   || |^    &&    == !=    < <= > >=    + -    * / %    ^    - ! of one operand
 * all from left to right (2^3^2 = 64, -2^2 = 4, as in LAMMPS), parentheses, the functions sqrt exp ln log (of
 * base 10) abs sin cos tan asin acos atan atan2(y,x) floor ceil round random(lo,hi,seed), the constants PI yes
 * no true false on off, v_name, and the thermo keywords (step, temp, pe, ..., lx, vol, atoms, dt), looked up
 * through `keyword`. random draws from one sequence, so every rank evaluates the same formulas.
 */
#ifndef MD_SRC_DECK_VARIABLE_H
#define MD_SRC_DECK_VARIABLE_H

#include "common/base/error.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct md_variables md_variables;

/* Looks up a thermo keyword: MD_OK and *value; *known = false if there is no such keyword; any other status is
 * an error such as "temp is not known before the first run". */
typedef md_status (*md_keyword_lookup)(void *context, const char *name, double *value, bool *known);

md_status md_variables_new(md_variables **variables, md_keyword_lookup keyword, void *context) MD_CHECKED;
void md_variables_free(md_variables *variables);

/* `-var name value...` of the command line: an index variable that the deck's own `variable NAME index` does not
 * replace; a definition of another style is MD_USAGE, as in LAMMPS. */
md_status md_variables_preset(md_variables *variables, const char *name, int nvalue,
                              char *const *value) MD_CHECKED;

/* The `variable` command without its first word: name, style, arguments. */
md_status md_variables_define(md_variables *variables, int nword, char *const *word) MD_CHECKED;

/* The value of a formula. MD_USAGE names the token: unknown name, division by zero, recursion, syntax, NaN. */
md_status md_variables_formula(md_variables *variables, const char *formula, double *value) MD_CHECKED;

/* `line` with every $ reference replaced except inside quotes (quote.h), as LAMMPS does; a quote that is never
 * closed counts as a letter. Replaced text is not searched again. The caller frees *out. MD_USAGE: a reference to
 * nothing, a bad format, or more than 1 MiB of text. */
md_status md_variables_substitute(md_variables *variables, const char *line, char **out) MD_CHECKED;

/* The name of the k-th (from 0) `-var` variable that the deck has neither read nor defined; NULL beyond the last. */
const char *md_variables_unused(const md_variables *variables, int k);

#endif
