/* The bond styles, a file for each; common/bond/bond.h describes the parts of such a file. */
#include "common/bond/bond_fene.h"
#include "common/bond/bond_harmonic.h"
