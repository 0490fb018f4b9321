/* Steps of output that a variable gives; see output_steps.h.
 *
 * LAMMPS evaluates the variable at the beginning of a run and after each output, and so does this file: a formula such
 * as stride(0,1000,10) gives the first of its steps that is later than the present one. */
#include "src/output/output_steps.h"
#include "src/sim.h"

#include <stdio.h>
#include <string.h>

md_status md_output_steps_read(const char *word, const char *what, int64_t least, md_output_steps *steps)
{
  if (strncmp(word, "v_", 2) != 0) {
    MD_TRY(md_word_int64(word, what, least, INT64_MAX, &steps->every));
    steps->variable[0] = '\0';
    return MD_OK;
  }
  if (strlen(word) == 2 || strlen(word) >= sizeof steps->variable)
    return md_error(MD_USAGE, "%s: v_ is followed by a variable's name of 1 to %zu characters, not '%.80s'",
                    what, sizeof steps->variable - 3, word + 2);
  snprintf(steps->variable, sizeof steps->variable, "%s", word);
  return MD_OK;
}

md_status md_output_steps_next(md_sim *sim, const char *what, md_output_steps *steps)
{
  const int64_t now = sim->model.step;
  double next;
  if (!steps->variable[0]) return MD_OK;
  if (sim->model.backwards)
    return md_error(MD_USAGE, "%s: %s gives steps forwards; a run back needs a number of steps", what,
                    steps->variable);
  const md_status status = md_variables_formula(sim->variables, steps->variable, &next);
  if (status != MD_OK) md_error_prefix("%s: ", what);
  MD_TRY(status);
  if (!(next >= (double)now + 1.0))
    return md_error(MD_USAGE, "%s: %s is %.15g at step %lld, and must be a later step", what, steps->variable,
                    next, (long long)now);
  steps->next = next < 9e18 ? (int64_t)next : INT64_MAX;
  return MD_OK;
}
