/* The numbers of molecules of all particles. */
#ifndef MD_SRC_BONDS_MOLECULES_H
#define MD_SRC_BONDS_MOLECULES_H

#include "common/particles.h"
#include "common/ranks/comm.h"

/* *last: the largest number of a molecule on all ranks; 0 without molecules. Collective. */
md_status md_molecules_find_last(md_comm *comm, const md_particles *p, int64_t *last) MD_CHECKED;

#endif
