/* Variables and formulas of the deck language.
 *
 * A variable has one of these styles:
 *   index     one text of several; `next` moves it to the following one, and -var may give others
 *   loop      one whole number of several, moved by `next`
 *   file      one word of a file, the first of each line, moved by `next`
 *   string    a text
 *   getenv    the text of a variable of the environment, as it was at the definition
 *   format    the value of another variable, printed with a format
 *   internal  a number
 *   equal     a formula, evaluated each time the variable is read
 *   atom      a formula with a value for each particle, evaluated each time the variable is read
 *   atomfile  values of particles by id, in sets of a file, moved by `next`
 *   vector    a formula of vectors, of computes and fixes, or a list [A,B,...]; read as v_NAME[I], or by sum(v_NAME)
 *
 * $x, ${name} and $(formula) are replaced in a line before the line is split into words. $(formula:%format) prints
 * with a format. A formula has these operators, from the loosest to the tightest:
 *   || |^    &&    == !=    < <= > >=    + -    * / %    ^    - ! of one operand
 * All group from left to right (2^3^2 = 64, -2^2 = 4, as in LAMMPS). A formula may contain parentheses; the
 * functions sqrt exp ln log (of base 10) abs sin cos tan asin acos atan atan2(y,x) floor ceil round
 * random(lo,hi,seed); the constants PI yes no true false on off; v_name; and the thermo keywords (step, temp, pe,
 * ..., lx, vol, atoms, dt), which `keyword` looks up; x[ID] and the like of one particle. random draws from one
 * sequence, so all ranks must evaluate the same formulas in the same order. In a formula of style atom it draws for
 * each particle, by its id.
 */
#ifndef MD_SRC_FORMULA_VARIABLE_H
#define MD_SRC_FORMULA_VARIABLE_H

#include "common/base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct md_variables md_variables;

/* Looks up a thermo keyword and sets *value. *known = false: there is no such keyword. A status other than MD_OK
 * is an error such as "temp is not known before the first run". */
typedef md_status (*md_keyword_lookup)(void *context, const char *name, double *value, bool *known);

/* Looks up a function with arguments that are no plain numbers, such as the name of a group: `argument` holds the n
 * texts between the commas. *known = false: there is no such function. */
typedef md_status (*md_function_lookup)(void *context, const char *name, int n, char *const *argument,
                                        double *value, bool *known);

typedef struct md_each_code md_each_code; /* common/sums/each.h */

/* What formulas read of particles. `context` is that of md_variables_new. */
typedef struct md_formula_particles {
  int64_t (*count)(void *context);      /* the particles of this rank */
  const int64_t *(*ids)(void *context); /* their ids */
  /* Allocates *value and fills it with a number for each particle: of a name such as x, or, if n > 0, of a function
   * with n texts. *known = false: there is none. The same status on all ranks. The formula frees *value. */
  md_status (*each)(void *context, const char *name, int n, char *const *argument, double **value,
                    bool *known);
  /* The value of such a name for the particle with that id, on all ranks. Collective. */
  md_status (*of_id)(void *context, const char *name, int64_t id, double *value, bool *known);
  /* The code of one step that stands for such a name where an engine evaluates a formula. MD_USAGE: engines do not
   * know it. */
  md_status (*record)(void *context, const char *name, md_each_code *code, bool *known);
} md_formula_particles;

/* What formulas of style vector read: c_ID and f_ID that are vectors. `begin` sets their common length, 0 if it is not
 * known yet; `table.each` finds it at the first vector, and refuses another one. `table.ids` is NULL. */
typedef struct md_formula_vectors {
  void (*begin)(void *context, int64_t length);
  md_formula_particles table;
} md_formula_vectors;

md_status md_variables_new(md_variables **variables, md_keyword_lookup keyword, void *context) MD_CHECKED;
void md_variables_free(md_variables *variables);

/* Gives formulas more functions. `context` is that of md_variables_new. */
void md_variables_set_function(md_variables *variables, md_function_lookup function);

/* Gives formulas the values of particles; a static table. */
void md_variables_set_particles(md_variables *variables, const md_formula_particles *particles);

/* Gives formulas of style vector their vectors; a static table. */
void md_variables_set_vectors(md_variables *variables, const md_formula_vectors *vectors);

/* Defines an index variable from `-var name value...` of the command line. The deck's own `variable NAME index`
 * does not replace it. A later definition of another style is MD_USAGE, as in LAMMPS. */
md_status md_variables_preset(md_variables *variables, const char *name, int nvalue,
                              char *const *value) MD_CHECKED;

/* Executes the `variable` command. word: name, style, arguments. An index, loop or file variable that exists keeps its
 * values, as in LAMMPS. MD_USAGE: a word is refused. MD_RUNTIME: a file cannot be read. */
md_status md_variables_define(md_variables *variables, int nword, char *const *word) MD_CHECKED;

/* Moves n variables of one style to their next values (the command next). *ended: at least one had none left, and does
 * not exist any more. MD_USAGE: a variable does not exist, or has another style. MD_RUNTIME: a file cannot be read. */
md_status md_variables_next(md_variables *variables, int n, char *const *name, bool *ended) MD_CHECKED;

bool md_variables_is_defined(const md_variables *variables, const char *name);

/* The text that ${name} stands for. The caller frees *text. MD_USAGE: there is no such variable, or its formula cannot
 * be evaluated. */
md_status md_variables_text(md_variables *variables, const char *name, char **text) MD_CHECKED;

/* Evaluates a formula. MD_USAGE: unknown name, division by zero, circular reference, syntax error or NaN; the
 * message names the faulty part. */
md_status md_variables_formula(md_variables *variables, const char *formula, double *value) MD_CHECKED;

/* The number of random numbers that formulas have drawn so far. */
uint64_t md_variables_drawn(const md_variables *variables);

/* Goes on as if formulas had drawn that many: the state of the sequence is this number alone. */
void md_variables_set_drawn(md_variables *variables, uint64_t drawn);

/* From now on random and normal are errors, for a deck that is only followed: commands that were left out may have
 * drawn. */
void md_variables_hide_draws(md_variables *variables);

/* Is it a variable of style vector? */
bool md_variables_is_vector(const md_variables *variables, const char *name);

/* The values of a variable of style vector: *value, [*n], is the variable's, until it is evaluated again. Collective.
 * MD_USAGE: it is none, or as above. */
md_status md_variables_vector(md_variables *variables, const char *name, int64_t *n,
                              const double **value) MD_CHECKED;

/* Is it a variable with a value for each particle: of style atom or atomfile? */
bool md_variables_is_atom(const md_variables *variables, const char *name);

/* Evaluates a formula for each particle of this rank: value has room for all. A formula with one value gives all
 * particles that value. The error may be that of one rank alone, but all ranks return. MD_USAGE: as above. */
md_status md_variables_each(md_variables *variables, const char *formula, double *value) MD_CHECKED;

/* Records the formula of a variable of style atom, for an engine. Numbers that are the same for all particles have
 * their present values. MD_USAGE: it is no such variable, or engines do not know its operations or its names. */
md_status md_variables_record(md_variables *variables, const char *name, md_each_code *code) MD_CHECKED;

/* Replaces every $ reference of `line`, except inside quotes (src/deck/quote.h), as LAMMPS does. A quote that is never
 * closed counts as a letter. Replaced text is not searched again. The caller frees *out. MD_USAGE: an undefined
 * variable, a bad format, or more than 1 MiB of text. */
md_status md_variables_substitute(md_variables *variables, const char *line, char **out) MD_CHECKED;

/* The name of the k-th variable (from 0) of -var that the deck has neither read nor defined; NULL beyond the last. */
const char *md_variables_unused(const md_variables *variables, int k);

#endif
