/* Restart files: the whole state of a system, from which a run goes on to the same bits.
 *
 * A file is HDF5, with these groups (docs/restarts.md lists every item):
 *   /model       box, types, masses, pair style and coefficients, integrator, thermostat, walls, timestep, grids
 *   /run         step, the run it was written in, and the deck's runs before that
 *   /output      the files that dumps had open, and how far they were written
 *   /particles   one array for each field of common/particle_fields.def, in any order of particles
 *
 * Checksums: that of a field is the sum modulo 2^64, over particles and components, of a 64-bit hash of (id, component,
 * value). It does not depend on the order of particles, so any number of ranks finds the same one, each from its part.
 * All other items have one together, in their order.
 *
 * While a run is under way velocities are stored as engines hold them, p/m_reference on the velocity grid, which loses
 * no bit: velocity = v * /model/velocity_per_v[type]. Between runs those factors are 1. Wide momenta (/model/wide) have
 * their second words in /particles/v_low, in units of grids.v m_reference.
 *
 * A file is written as NAME.hhhhhhhhhhhh.tmp (new_file.h), handed to the disk (fsync) by every rank, and
 * renamed: under its name there is a
 * complete file or the one before.
 */
#ifndef MD_SRC_RESTART_RESTART_H
#define MD_SRC_RESTART_RESTART_H

#include "src/files/hdf5_file.h"
#include "src/sim.h"

enum { MD_RESTART_FIELDS = 8 };

/* What a file holds besides the particles. */
typedef struct md_restart {
  md_model model; /* pair parameters are its own */
  md_history history;
  bool under_way; /* written inside the last run of the history */
  bool has_energy;
  double first_energy; /* total, of the run's first thermo row */
  int64_t noutput;
  md_output_mark *output;
  uint64_t checksum[MD_RESTART_FIELDS]; /* by field */
  char program[64];
} md_restart;

/* Sum over all ranks of the hashes of every field's values. Collective. */
md_status md_restart_checksums(md_comm *comm, const md_particles *particles,
                               uint64_t checksum[MD_RESTART_FIELDS]) MD_CHECKED;

/* A hash of the physics of a prepared model, for comparing two. */
uint64_t md_restart_model_hash(const md_model *model);

/* Writes the present state; sim->particles is current. in_run: velocities are as engines hold them. Collective.
 * MD_RUNTIME: disk full, ... */
md_status md_restart_write(md_sim *sim, const char *path, bool in_run) MD_CHECKED;

/* Opens a file and reads all but the particles; the caller closes *file and frees what is in *restart, also after an
 * error. MD_RUNTIME: no such file, no restart, truncated, damaged. Not collective. */
md_status md_restart_open(const char *path, md_h5_file **file, md_restart *restart) MD_CHECKED;
void md_restart_free(md_restart *restart);

/* Of its particles. */
double md_restart_megabytes(const md_restart *restart);

/* Each rank's share of the particles, in place of those in *particles; NULL only verifies them. Collective, with the
 * same status on every rank. MD_RUNTIME: a field's checksum is wrong. */
md_status md_restart_particles(md_comm *comm, md_h5_file *file, const char *path, const md_restart *restart,
                               md_particles *particles) MD_CHECKED;

#endif
