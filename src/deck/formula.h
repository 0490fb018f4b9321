/* Evaluating one formula of the deck language; variable.h says what a formula may contain. */
#ifndef MD_SRC_DECK_FORMULA_H
#define MD_SRC_DECK_FORMULA_H

#include "src/deck/variable.h"
#include <stdint.h>

/* Where names get their values. `variable` is asked for v_NAME, without the v_. */
typedef struct md_formula_names {
  md_status (*variable)(void *context, const char *name, double *value);
  void *variable_context;
  md_keyword_lookup keyword;
  void *keyword_context;
} md_formula_names;

/* Shared by a formula and all formulas it refers to; all zero to begin with. */
typedef struct md_formula_limits {
  int depth;      /* of nested parentheses, functions and variables, now */
  int64_t work;   /* operands read since the outermost formula began */
  uint64_t draws; /* random numbers drawn so far */
} md_formula_limits;

/* MD_USAGE quotes the formula and names the offending token. */
md_status md_formula_evaluate(const char *formula, const md_formula_names *names, md_formula_limits *limits,
                              double *value) MD_CHECKED;

#endif
