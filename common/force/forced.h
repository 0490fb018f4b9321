/* What a fix that acts on forces has for output; common/force/forces.h makes it. */
#ifndef MD_COMMON_FORCE_FORCED_H
#define MD_COMMON_FORCE_FORCED_H

#include "common/fix/fix.h"

typedef struct md_forced {
  double energy;
  double vector[MD_FORCE_VECTOR];
} md_forced;

#endif
