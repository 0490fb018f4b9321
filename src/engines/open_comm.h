/* The communicator of this process, and what `myriad info` says of ranks. */
#ifndef MD_SRC_ENGINES_OPEN_COMM_H
#define MD_SRC_ENGINES_OPEN_COMM_H

#include "common/ranks/comm.h"

/* That of all ranks if a launcher started several, else one rank. The caller calls ->destroy. MD_RUNTIME: MPI fails, or
 * the build has none. */
md_status md_open_comm(md_comm **comm) MD_CHECKED;

/* One line for `myriad info`: how ranks are started, or what they need. Terminated, at most `size` bytes. */
void md_describe_ranks(char *text, size_t size);

#endif
