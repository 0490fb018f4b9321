/* The thermo keywords: every thermodynamic quantity's name, column title and meaning, once.
 *
 * The log's columns and the formulas of variables both look here, through md_sim_keyword (sim.h) or directly.
 */
#ifndef MD_SRC_OUTPUT_THERMO_KEYWORDS_H
#define MD_SRC_OUTPUT_THERMO_KEYWORDS_H

#include "src/sim.h"

/* What a keyword is read from. */
typedef struct md_thermo_reading {
  const md_sim *sim;
  md_thermo_state state; /* if asked for */
  double total_mass;     /* if asked for */
  int64_t step;
} md_thermo_reading;

/* What must be known first. */
enum { MD_NEEDS_BOX = 1, MD_NEEDS_STATE = 2, MD_NEEDS_MASS = 4, MD_NEEDS_RUN = 8 };

/* Exactly one of `whole` and `real` is set. */
typedef struct md_thermo_keyword {
  const char *name, *title;
  unsigned needs;
  int64_t (*whole)(const md_thermo_reading *);
  double (*real)(const md_thermo_reading *);
} md_thermo_keyword;

/* NULL if there is no such keyword. */
const md_thermo_keyword *md_thermo_keyword_find(const char *name);

/* All names, for error messages; a static string. */
const char *md_thermo_keyword_list(void);

/* Fills in what `keyword` needs, at the step being observed or, between runs, at the last one known. Collective.
 * MD_USAGE: it needs a box or a run that is not there. */
md_status md_thermo_read(md_sim *sim, const md_thermo_keyword *keyword,
                         md_thermo_reading *reading) MD_CHECKED;

#endif
