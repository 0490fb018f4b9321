/* Chemical symbols: what xyz readers accept as a species. */
#ifndef MD_SRC_PARTICLES_ELEMENTS_H
#define MD_SRC_PARTICLES_ELEMENTS_H

#include <stdbool.h>

/* Whether `name` is one of the 118 elements, or X, the customary dummy. */
bool md_element_known(const char *name);

/* The symbol a particle type (from 1) gets if the deck names none: the noble gases from argon on, as befits
 * Lennard-Jones particles, then the other elements in order, then X. */
const char *md_element_default(int type);

#endif
