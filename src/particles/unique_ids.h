/* Does an id occur twice among the particles of all ranks? */
#ifndef MD_SRC_PARTICLES_UNIQUE_IDS_H
#define MD_SRC_PARTICLES_UNIQUE_IDS_H

#include "common/ranks/comm.h"

/* *twice: the largest id that two particles have, the same on every rank; 0: there is none. Ids are positive. Errors:
 * out of memory, and those of messages. Collective, with the same status on every rank. */
md_status md_ids_find_twice(md_comm *comm, const md_particles *particles, int64_t *twice) MD_CHECKED;

#endif
