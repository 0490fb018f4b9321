/* The values of particles in formulas: x, vx, type and the like, computes of particles, and masks of groups. */
#ifndef MD_SRC_FORMULA_PARTICLE_VALUES_H
#define MD_SRC_FORMULA_PARTICLE_VALUES_H

#include "common/ranks/reductions.h"
#include "src/sim.h"

typedef struct md_each md_each; /* common/sums/each.h */

/* What formulas of a md_sim read of particles (variable.h); the context is the md_sim. */
extern const md_formula_particles md_particle_values;

/* Does the name have a value for each particle: an attribute, a compute of particles, or a variable of style atom? */
bool md_particle_values_has(const md_sim *sim, const char *name);

/* Can an engine make the value of this name in place? Then says how. A formula is recorded with the present values of
 * what is the same for all particles: on all ranks, at a step where these are known. */
bool md_particle_values_in_place(const md_sim *sim, const char *name, md_each *each);

/* The values of a name for all particles of this rank: of an attribute such as vx, of a compute c_ID, or of a variable
 * v_NAME of any style. value: has room for all. While a step is
 * observed, md_view_particles comes before. The same status on all ranks. Collective. MD_USAGE: the name is
 * unknown, or not known now. */
static inline MD_CHECKED md_status md_particle_values_of(md_sim *sim, const char *name, double *value)
{
  return md_comm_agree(sim->comm, md_variables_each(sim->variables, name, value));
}

#endif
