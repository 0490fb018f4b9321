/* What a launcher of ranks, such as mpirun or srun, says about itself in the environment. It says so before MPI starts,
 * and in a build without MPI too. */
#ifndef MD_COMMON_RANKS_LAUNCHED_H
#define MD_COMMON_RANKS_LAUNCHED_H

#include <stdbool.h>

/* Did a launcher start this process? */
bool md_was_launched(void);

/* The number of ranks that the launcher started; 0: no launcher, or it does not say. */
long md_launched_ranks(void);

#endif
