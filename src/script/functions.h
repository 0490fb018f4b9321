/* The functions of formulas that look at the simulation: of the step, of what is defined, and of groups. */
#ifndef MD_SRC_SCRIPT_FUNCTIONS_H
#define MD_SRC_SCRIPT_FUNCTIONS_H

#include "src/sim.h"

/* A md_function_lookup (src/formula/variable.h), whose context is the md_sim. Collective. */
md_status md_script_function(void *context, const char *name, int n, char *const *argument, double *value,
                             bool *known) MD_CHECKED;

#endif
