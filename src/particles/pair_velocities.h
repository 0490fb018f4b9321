/* The velocities of pair forces between runs (md_particles.v_pair): a run goes on with those of the run before, as long
 * as no command has changed velocities or particles in between. Otherwise it begins with the velocities that it finds.
 *
 * A mark, the sum of a hash of id and velocity over all particles, shows whether they are the same. So no command has
 * to say that it changes them. Other pair styles: the functions do nothing.
 */
#ifndef MD_SRC_PARTICLES_PAIR_VELOCITIES_H
#define MD_SRC_PARTICLES_PAIR_VELOCITIES_H

#include "src/sim.h"

/* Marks the present velocities as those that belong to the velocities of pair forces: after a run, or a restart that
 * was read. Collective. */
md_status md_pair_velocities_mark(md_sim *sim) MD_CHECKED;

/* Takes the velocities of pair forces away, unless the present velocities are those of the mark. Collective. */
md_status md_pair_velocities_check(md_sim *sim) MD_CHECKED;

#endif
