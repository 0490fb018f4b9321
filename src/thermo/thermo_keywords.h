/* The thermo keywords: name, column title and meaning of every thermodynamic quantity, in one table.
 *
 * The columns of the log and the formulas of variables both use this table, directly or through md_sim_keyword
 * (src/sim.h).
 */
#ifndef MD_SRC_THERMO_THERMO_KEYWORDS_H
#define MD_SRC_THERMO_THERMO_KEYWORDS_H

#include "src/sim.h"

/* The data from which the value of a keyword is computed. */
typedef struct md_thermo_reading {
  const md_sim *sim;
  const md_computed *computed; /* if asked for */
  int temp, press; /* indices of the computes of thermo_modify, if the state or the tensor is asked for */
  const double *tensor;               /* the pressure tensor (common/tensor.h), if asked for */
  double total_mass;                  /* if asked for */
  double largest_force, force_square; /* largest component, and the sum of all squares, if asked for */
  int64_t step;
} md_thermo_reading;

/* What a keyword needs; the values can be combined. */
enum {
  MD_NEEDS_BOX = 1,
  MD_NEEDS_STATE = 2,
  MD_NEEDS_MASS = 4,
  MD_NEEDS_RUN = 8,
  MD_NEEDS_TENSOR = 16,
  MD_NEEDS_FORCES = 32
};

/* A keyword. Exactly one of `whole` and `real` is set: it gives the value as a whole or as a real number. */
typedef struct md_thermo_keyword {
  const char *name, *title;
  unsigned needs;
  int64_t (*whole)(const md_thermo_reading *);
  double (*real)(const md_thermo_reading *);
} md_thermo_keyword;

/* Finds a keyword. NULL: there is no such keyword. */
const md_thermo_keyword *md_thermo_keyword_find(const char *name);

/* All names, for error messages; a static string. */
const char *md_thermo_keyword_list(void);

/* Fills in what `keyword` needs, at the step that is being observed or, between runs, at the last known step.
 * Collective. MD_USAGE: the keyword needs a box or a run, and there is none. */
md_status md_thermo_read(md_sim *sim, const md_thermo_keyword *keyword,
                         md_thermo_reading *reading) MD_CHECKED;

#endif
