/* The communicator of this process, and the line about ranks for `myriad info`. */
#ifndef MD_SRC_ENGINES_OPEN_COMM_H
#define MD_SRC_ENGINES_OPEN_COMM_H

#include "common/ranks/comm.h"

/* Opens the communicator of all ranks if a launcher started several, and of one rank otherwise. The caller calls
 * ->destroy. MD_RUNTIME: MPI fails, or there are several ranks and the build has no MPI. */
md_status md_open_comm(md_comm **comm) MD_CHECKED;

/* Writes one line for `myriad info`: how to start ranks, or what they need. The text is terminated, in at most
 * `size` bytes. */
void md_describe_ranks(char *text, size_t size);

#endif
