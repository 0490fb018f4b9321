/* Evaluating one formula of the deck language; variable.h says what a formula may contain. */
#ifndef MD_SRC_FORMULA_FORMULA_H
#define MD_SRC_FORMULA_FORMULA_H

#include "src/formula/variable.h"
#include <stdint.h>

/* The functions that give names their values. `variable` is called for v_NAME, with NAME only. */
typedef struct md_formula_names {
  md_status (*variable)(void *context, const char *name, double *value);
  void *variable_context;
  md_keyword_lookup keyword;
  md_function_lookup function; /* or NULL */
  void *context;               /* of both */
} md_formula_names;

/* Limits shared by a formula and all formulas that it refers to. All zero at the start. */
typedef struct md_formula_limits {
  int depth;      /* present depth of nested parentheses, functions and variables */
  int64_t work;   /* operands read since the outermost formula began */
  uint64_t draws; /* random numbers drawn so far */
} md_formula_limits;

/* Evaluates `formula` into *value. MD_USAGE: the message quotes the formula and names the faulty part. */
md_status md_formula_evaluate(const char *formula, const md_formula_names *names, md_formula_limits *limits,
                              double *value) MD_CHECKED;

#endif
