/* Momentum, rotation and temperature of the particles of a group: found by exact sums, and corrected.
 *
 * Positions are those in the box. Units: sigma, tau. kB = 1.
 */
#ifndef MD_SRC_EDIT_GROUP_MOTION_H
#define MD_SRC_EDIT_GROUP_MOTION_H

#include "src/sim.h"

/* The mass of a group. *count: its particles. MD_USAGE: a type in use has no mass; `command` is named in the message.
 * Collective. */
md_status md_group_mass(md_sim *sim, const char *command, uint32_t bit, double *mass,
                        int64_t *count) MD_CHECKED;

/* The centre of mass of a group, centre[0 .. 3); 0 if it is empty. The same errors. Collective. */
md_status md_group_centre(md_sim *sim, const char *command, uint32_t bit, double centre[3]) MD_CHECKED;

/* Subtracts the velocity of the centre of mass. MD_USAGE, MD_PHYSICS: no mass, a velocity that is not finite.
 * Collective. */
md_status md_group_zero_momentum(md_sim *sim, uint32_t bit) MD_CHECKED;

/* Subtracts the rotation with the group's angular momentum about its centre of mass: v -= omega x (x - centre), where
 * omega is the solution of I omega = L. A group without extent about an axis gets no rotation about it. The same
 * errors. Collective. */
md_status md_group_zero_rotation(md_sim *sim, uint32_t bit) MD_CHECKED;

/* MD_USAGE: the temperature `of` has no degree of freedom. Collective. */
md_status md_group_need_freedom(md_sim *sim, const md_compute *of) MD_CHECKED;

/* Scales the velocities of a group so that the temperature `of` becomes `temperature`, if it has no bias. MD_USAGE: it
 * is 0. Collective. */
md_status md_group_scale(md_sim *sim, uint32_t bit, const md_compute *of, double temperature) MD_CHECKED;

#endif
