/* Chemical symbols: the names of species that readers of xyz files accept, and symbols for types that have none. */
#ifndef MD_SRC_DUMP_ELEMENTS_H
#define MD_SRC_DUMP_ELEMENTS_H

#include <stdbool.h>

/* Whether `name` is one of the 118 elements, or X, the usual name of a dummy particle. */
bool md_element_known(const char *name);

/* The default symbol of a particle type (from 1): first the noble gases from argon on, because Lennard-Jones
 * particles model them, then the other elements in order, then X. */
const char *md_element_default(int type);

#endif
