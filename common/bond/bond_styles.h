/* The bond styles, a file and a line for each; md_bond_style in common/bond/bond.h says what such a file holds. */
#include "common/bond/bond_fene.h"
#include "common/bond/bond_harmonic.h"
