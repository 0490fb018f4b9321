/* Thermo output: the table of thermodynamic quantities in the log, with LAMMPS's columns.
 */
#ifndef MD_SRC_THERMO_THERMO_H
#define MD_SRC_THERMO_THERMO_H

#include "common/base/error.h"
#include "src/output/output_steps.h"
#include <stdbool.h>
#include <stdint.h>

enum { MD_THERMO_COLUMNS = 256, MD_THERMO_FORMAT = 32 };

/* Are energies per particle? OF_UNITS: in units lj they are, as in LAMMPS. */
typedef enum md_norm { MD_NORM_OF_UNITS, MD_NORM_NO, MD_NORM_YES } md_norm;

typedef struct md_thermo {
  md_output_steps rows; /* every 0: only the first and the last step */
  int ncolumn;
  int standard;                       /* columns of thermo_style one or multi without the volume; 0: custom */
  bool multi;                         /* rows of several lines, with titles */
  char column[MD_THERMO_COLUMNS][64]; /* keywords, v_NAME, c_ID, f_ID, perhaps with [K] */
  char format_float[MD_THERMO_FORMAT]; /* of thermo_modify; "": the default of the column */
  char format_int[MD_THERMO_FORMAT];
  char format_column[MD_THERMO_COLUMNS][MD_THERMO_FORMAT];
  bool flush;
  char temp[64], press[64]; /* IDs of the computes that temp, ke and press show */
  md_norm norm;             /* energies per particle? */
  int64_t row_step;         /* step of the last row, for steps per second ... */
  double row_seconds;       /* ... and its time, in seconds since the run began */
} md_thermo;

typedef struct md_sim md_sim;
typedef struct md_view md_view;

/* Sets the columns of thermo_style one and the defaults. */
void md_thermo_init(md_thermo *thermo);

/* Are extensive values shown per particle? */
bool md_thermo_is_normed(const md_sim *sim);

/* Print the header line, and the row of the view's step, to the log. Collective. MD_USAGE: the formula of a
 * variable fails. */
md_status md_thermo_header(md_sim *sim) MD_CHECKED;
md_status md_thermo_row(md_sim *sim, md_view *view) MD_CHECKED;

/* Finds what the columns name, and evaluates those that are variables, outside of a run. Collective. MD_USAGE: there is
 * no such compute or fix, or the formula of a variable fails. */
md_status md_thermo_try(md_sim *sim) MD_CHECKED;

#endif
