/* Whether what stands in a restart can be: a file may have the right checksums, and still be none that a program
 * wrote. */
#ifndef MD_SRC_RESTART_RESTART_CHECK_H
#define MD_SRC_RESTART_RESTART_CHECK_H

#include "src/restart/restart.h"

/* Everything but the particles, after reading. MD_RUNTIME names the place in the file. Not collective. */
md_status md_restart_check(const md_restart *restart, const char *path) MD_CHECKED;

/* Ids and types that a box of this kind can hold, positions and velocities that are numbers, on this rank. */
md_status md_restart_check_particles(const md_restart *restart, const md_particles *particles,
                                     const char *path) MD_CHECKED;

/* No id twice on all ranks together. Collective, with the same status on every rank. */
md_status md_restart_check_ids(md_comm *comm, const md_particles *particles, const char *path) MD_CHECKED;

#endif
