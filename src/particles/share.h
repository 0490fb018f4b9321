/* Equal shares of the particles for all ranks, wherever the particles are: for engines without domains. Or all
 * particles for every rank. */
#ifndef MD_SRC_PARTICLES_SHARE_H
#define MD_SRC_PARTICLES_SHARE_H

#include "common/particles.h"
#include "common/ranks/comm.h"

/* Where share k of n things begins, of `shares` consecutive ones whose numbers differ by at most one; it ends where the
 * next one begins. 0 <= k <= shares < 2^31. */
static inline int64_t md_share_begin(int64_t n, int64_t shares, int64_t k)
{
  return n / shares * k + n % shares * k / shares;
}

/* Sends particles so that the numbers of any two ranks differ by at most one. The particles of all ranks, in the order
 * of ranks and of indices, are divided into consecutive shares. Drops ghosts. Collective. MD_RUNTIME: out of memory. */
md_status md_particles_share(md_comm *comm, md_particles *p) MD_CHECKED;

/* Gives every rank all particles of all ranks: of few, such as a unit cell. Drops ghosts. Collective. MD_RUNTIME: out
 * of memory. */
md_status md_particles_gather(md_comm *comm, md_particles *p) MD_CHECKED;

#endif
