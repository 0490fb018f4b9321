/* Functions of formulas that measure a group of particles, as LAMMPS has them: count, mass, xcm and so on. */
#ifndef MD_SRC_SCRIPT_GROUP_FUNCTIONS_H
#define MD_SRC_SCRIPT_GROUP_FUNCTIONS_H

#include "src/sim.h"

/* Measures the present state. argument: the group, then an axis (x y z) or a face (xmin ... zmax) if the function has
 * one, then perhaps a region. *known = false: there is no such function. All ranks get the same bits. Collective.
 * MD_USAGE: a wrong argument, no mass, or image flags that were not counted. */
md_status md_group_function(md_sim *sim, const char *name, int n, char *const *argument, double *value,
                            bool *known) MD_CHECKED;

/* Does the text have a function that needs unwrapped positions? */
bool md_group_functions_unwrap(const char *text);

#endif
