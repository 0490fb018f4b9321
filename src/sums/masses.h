/* Masses of particles: by type (command mass), or their own (atom_style sphere, md_particles.mass). */
#ifndef MD_SRC_SUMS_MASSES_H
#define MD_SRC_SUMS_MASSES_H

#include "src/sim.h"

/* The mass of a particle that is created with atom_style sphere: that of a sphere of diameter and density 1, pi/6. */
#define MD_MASS_OF_SPHERE 0.52359877559829887

/* The mass of a sphere; with a diameter of 0, as LAMMPS has it, the density is the mass. The same operations as in
 * LAMMPS's read_data. */
double md_mass_of_sphere(double diameter, double density);

/* MD_USAGE, unless particles have masses of their own. The message begins with `command`. */
md_status md_masses_need(const md_sim *sim, const char *command) MD_CHECKED;

/* Gives particle i its own mass. Its velocity stays. Only after md_masses_need. MD_USAGE: the mass is not a positive,
 * finite number. */
md_status md_particles_set_mass(md_particles *p, int64_t i, double mass) MD_CHECKED;

/* Counts the particles of a group on all ranks: count[0] all of them, count[t] those of type t. Collective. */
md_status md_types_count(md_sim *sim, uint32_t bit, int64_t count[MD_TYPES_MAX + 1]) MD_CHECKED;

/* The mass of all particles of all ranks: the same bits for any number of ranks. A type without a mass counts as 0.
 * Collective. MD_PHYSICS: the sum is infinite. */
md_status md_masses_total(md_sim *sim, double *total) MD_CHECKED;

/* Sets mass_least and mass_most of a model whose particles have masses of their own. Collective. */
md_status md_masses_find_range(md_sim *sim) MD_CHECKED;

#endif
