/* Equal shares of the particles for all ranks, wherever the particles are: for engines without domains. Or all
 * particles for every rank. */
#ifndef MD_SRC_PARTICLES_SHARE_H
#define MD_SRC_PARTICLES_SHARE_H

#include "common/particles.h"
#include "common/ranks/comm.h"

/* Sends particles so that the numbers of any two ranks differ by at most one. The particles of all ranks, in the order
 * of ranks and of indices, are divided into consecutive shares. Drops ghosts. Collective. MD_RUNTIME: out of memory. */
md_status md_particles_share(md_comm *comm, md_particles *p) MD_CHECKED;

/* Gives every rank all particles of all ranks: of few, such as a unit cell. Drops ghosts. Collective. MD_RUNTIME: out
 * of memory. */
md_status md_particles_gather(md_comm *comm, md_particles *p) MD_CHECKED;

#endif
