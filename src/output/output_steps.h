/* Steps of output that a variable gives, in place of the multiples of a number: `thermo v_NAME` and
 * `dump_modify every v_NAME`. */
#ifndef MD_SRC_OUTPUT_OUTPUT_STEPS_H
#define MD_SRC_OUTPUT_OUTPUT_STEPS_H

#include "common/base/error.h"
#include <stdint.h>

typedef struct md_sim md_sim;

/* When output is due. */
typedef struct md_output_steps {
  int64_t every;     /* at its multiples; 0: never */
  char variable[64]; /* the variable that gives the next step, as v_NAME; "": none */
  int64_t next;      /* what it gave */
} md_output_steps;

/* Reads a number of steps, at least `least`, or v_NAME. what: the subject of error messages. MD_USAGE: the word is
 * neither. */
md_status md_output_steps_read(const char *word, const char *what, int64_t least,
                               md_output_steps *steps) MD_CHECKED;

/* Finds the next step, at the present one: at the beginning of a run, and after each output. Nothing to do without a
 * variable. MD_USAGE: the variable cannot be evaluated, gives no later step, or the run goes back. */
md_status md_output_steps_next(md_sim *sim, const char *what, md_output_steps *steps) MD_CHECKED;

#endif
