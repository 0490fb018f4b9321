/* Restart files: the whole state of a system, from which a run continues to the same bits.
 *
 * A file is HDF5, with these groups (docs/reference/restarts.md lists every item):
 *   /model       box, types, masses, pair style and coefficients, fixes, timestep, grids
 *   /run         step, the run in which the file was written, and the deck's runs before it
 *   /output      the files that dumps had open, and how far they were written
 *   /particles   one array for each field of common/particle_fields.def, with the particles in any order; and one for
 *                each number that a fix keeps for each particle (src/properties/id_values.h)
 *
 * Velocities: while a run is under way they are stored as engines hold them, p/m_reference on the velocity grid,
 * which loses no bit: velocity = v * /model/velocity_per_v[type]. Between runs these factors are 1. Wide momenta
 * (/model/wide) have their second words in /particles/v_low, in units of grids.v m_reference.
 *
 * A file is written as NAME.hhhhhhhhhhhh.tmp (src/files/new_file.h). Every rank passes its data to the disk (fsync),
 * and the file is then renamed. So the name always stands for a complete file, the new one or the one before.
 */
#ifndef MD_SRC_RESTART_RESTART_H
#define MD_SRC_RESTART_RESTART_H

#include "src/hdf5/hdf5_file.h"
#include "src/properties/id_values.h"
#include "src/sim.h"
#include "src/sums/checksum.h"

/* Fields of particles, and one more; columns of values that fixes keep for each particle. */
enum { MD_RESTART_FIELDS = 15, MD_RESTART_COLUMNS = MD_CHECKSUMS };

/* The ID of marks of files of the command print. No ID of a deck has a blank. */
#define MD_PRINTED_ID "print file"

/* The content of a file without the particles. */
typedef struct md_restart {
  md_model model; /* with pair parameters of its own */
  md_history history;
  bool under_way; /* written during the last run of the history */
  bool has_energy;
  double first_energy; /* total energy in the run's first thermo row */
  bool has_draws;      /* the file says how many random numbers were drawn; files of version 9 do not */
  uint64_t drawn;      /* random numbers that formulas had drawn */
  uint64_t drawn_row;  /* the same before the step's thermo row */
  bool unshown;        /* the step was not shown before: a resume shows it to all observers */
  int64_t noutput;
  md_output_mark *output;
  uint64_t checksum[MD_RESTART_FIELDS]; /* one for each field */
  int ncolumn;
  md_id_column *column; /* [ncolumn] of fixes; its values once the particles were read */
  uint64_t column_checksum[MD_RESTART_COLUMNS];
  char program[64];
} md_restart;

/* Writes the present state. sim->particles must be up to date. in_run: velocities are in the engine's form.
 * Collective. MD_RUNTIME: a write failed, for example because the disk is full. */
md_status md_restart_write(md_sim *sim, const char *path, bool in_run) MD_CHECKED;

/* Opens a file and reads everything except the particles. The caller closes *file and frees *restart with
 * md_restart_free, also after an error. MD_RUNTIME: there is no such file, or it is no restart, truncated or
 * damaged. Not collective. */
md_status md_restart_open(const char *path, md_h5_file **file, md_restart *restart) MD_CHECKED;
void md_restart_free(md_restart *restart);

/* The size of its particles in megabytes. */
double md_restart_megabytes(const md_restart *restart);

#endif
