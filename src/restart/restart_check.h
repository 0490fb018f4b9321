/* Checks of a restart's content. A file may have the right checksums and still contain values that no program
 * wrote. */
#ifndef MD_SRC_RESTART_RESTART_CHECK_H
#define MD_SRC_RESTART_RESTART_CHECK_H

#include "src/restart/restart.h"

/* Checks everything except the particles. MD_RUNTIME: a value is impossible; the message names its place in the
 * file. Not collective. */
md_status md_restart_check(const md_restart *restart, const char *path) MD_CHECKED;

/* Checks this rank's particles: ids and types must be in range, and positions and velocities must be finite
 * numbers. MD_RUNTIME: they are not. Not collective. */
md_status md_restart_check_particles(const md_restart *restart, const md_particles *particles,
                                     const char *path) MD_CHECKED;

/* Checks that no id occurs twice on all ranks together. Collective, with the same status on every rank. */
md_status md_restart_check_ids(md_comm *comm, const md_particles *particles, const char *path) MD_CHECKED;

#endif
