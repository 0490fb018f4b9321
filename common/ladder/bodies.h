/* How the ladder's main program makes the bodies of a study, and their accelerations by the oracle. */
#ifndef MD_COMMON_LADDER_BODIES_H
#define MD_COMMON_LADDER_BODIES_H

#include "common/ladder/ladder.h"

/* A study's n bodies; ladder_free_case() frees them. */
ladder_case *ladder_make_case(const ladder_study *study, int n);
void ladder_free_case(ladder_case *c);

#endif
