/* The hash of a state: one number that any difference of a bit in any particle changes.
 *
 * It is the sum modulo 2^64, over all particles, of a 64-bit hash of the particle's fields, its id among them
 * (common/particle_fields.def). So it does not depend on the order of particles or on which rank has them: every engine
 * and any number of ranks find the same hash of the same state. -0 counts as 0. Positions must be wrapped, and in one
 * form: while an engine runs, as `download` leaves them.
 *
 * Cost: about ten operations for each number of a particle. Two states that differ have the same hash with a
 * probability of 2^-64.
 */
#ifndef MD_SRC_BACKWARDS_STATE_HASH_H
#define MD_SRC_BACKWARDS_STATE_HASH_H

#include "common/particles.h"
#include "common/ranks/comm.h"

/* The hash of particle i. */
uint64_t md_particle_hash(const md_particles *particles, int64_t i);

/* The hash of the state of all ranks. Collective. */
md_status md_state_hash(md_comm *comm, const md_particles *particles, uint64_t *hash) MD_CHECKED;

#endif
