/* The particles in a restart: an array for each field of common/particle_fields.def that the model has, and a column
 * for each number that a fix keeps for each particle. Arrays are written and read without a copy in memory, each
 * component as one contiguous row.
 *
 * Checksums: the checksum of a field is the sum modulo 2^64, over particles and components, of a 64-bit hash of
 * (id, component, value). It does not depend on the order of particles, so any number of ranks finds the same
 * checksum, each rank from its part.
 *
 * Cost: the checksums take about a tenth of the time of writing.
 */
#ifndef MD_SRC_RESTART_PARTICLES_H
#define MD_SRC_RESTART_PARTICLES_H

#include "src/restart/restart.h"

/* Computes the checksum of each field, over all ranks. Collective. */
md_status md_restart_checksums(md_comm *comm, const md_particles *particles,
                               uint64_t checksum[MD_RESTART_FIELDS]) MD_CHECKED;

/* One number for all fields: what md_history calls the beginning, if the particles are those of the first run. It is
 * the same on all ranks. Collective. */
md_status md_restart_beginning(md_comm *comm, const md_particles *particles, uint64_t *beginning) MD_CHECKED;

/* Computes the checksums of the columns, over all ranks, to r->column_checksum. Collective. */
md_status md_restart_sum_columns(md_comm *comm, const md_particles *particles, md_restart *r) MD_CHECKED;

/* The name of an item about column k; item: "" is its array. */
void md_restart_name_column(int k, const char *item, char name[64]);

/* Makes the arrays of all particles in a new file, without values. */
md_status md_restart_make_arrays(md_h5_file *file, const md_restart *r,
                                 const md_particles *particles) MD_CHECKED;

/* Writes this rank's particles to rows [first, first + n). */
md_status md_restart_write_share(md_h5_file *file, const md_restart *r, const md_particles *particles,
                                 int64_t first) MD_CHECKED;

/* Checks the shapes of the arrays before memory is allocated for them. MD_RUNTIME: one is of another number. */
md_status md_restart_check_arrays(md_h5_file *file, const char *path, const md_restart *r) MD_CHECKED;

/* Reads this rank's share of the particles and replaces those in *particles; restart->column gets the values of fixes
 * for them. If `particles` is NULL, the particles are only verified. Collective, with the same status on every rank.
 * MD_RUNTIME: a checksum is wrong, or the particles are not valid. */
md_status md_restart_particles(md_comm *comm, md_h5_file *file, const char *path, md_restart *restart,
                               md_particles *particles) MD_CHECKED;

#endif
