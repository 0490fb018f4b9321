/* Evaluating one formula of the deck language; variable.h says what a formula may contain. */
#ifndef MD_SRC_FORMULA_FORMULA_H
#define MD_SRC_FORMULA_FORMULA_H

#include "common/sums/each.h"
#include "src/formula/variable.h"
#include <stdint.h>

/* A value: one number, or a number for each particle of this rank. */
typedef struct md_formula_value {
  double one;
  double *each;      /* [particles], or NULL. Who holds the value frees it */
  md_each_code code; /* of a formula that is recorded; no steps: it is one number */
} md_formula_value;

/* The functions that give names their values. `variable` is called for v_NAME, with NAME only. */
typedef struct md_formula_names {
  md_status (*variable)(void *context, const char *name, md_formula_value *value);
  /* Called for v_NAME[I]. */
  md_status (*element)(void *context, const char *name, int64_t i, double *value);
  void *variable_context; /* of both */
  md_keyword_lookup keyword;
  md_function_lookup function;           /* or NULL */
  void *context;                         /* of both, and of `particles` */
  const md_formula_particles *particles; /* or NULL */
  bool of_particles; /* the formula may have a value for each particle; otherwise it has one */
  bool records;      /* such values are not found, but recorded as steps */
} md_formula_names;

/* Limits shared by a formula and all formulas that it refers to. All zero at the start. */
typedef struct md_formula_limits {
  int depth;        /* present depth of nested parentheses, functions and variables */
  int64_t work;     /* operands read since the outermost formula began */
  uint64_t draws;   /* random numbers drawn so far */
  bool hides_draws; /* how many were drawn is not known: random and normal are errors */
  /* The first error in the value of a particle. Other ranks may have none, so that all read on to the end. */
  bool faulty;
  md_error_record fault;
} md_formula_limits;

/* Evaluates `formula` into *value. The caller frees value->each. MD_USAGE: the message quotes the formula and names the
 * faulty part, or what cannot be recorded. An error in the value of a particle is not returned, but noted in the
 * limits. */
md_status md_formula_evaluate(const char *formula, const md_formula_names *names, md_formula_limits *limits,
                              md_formula_value *value) MD_CHECKED;

#endif
