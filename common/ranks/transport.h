/* Messages between the device memories of ranks.
 *
 * A transport works in the order of a CUDA stream: what was launched before is sent, and what is launched after
 * sees what was received. Whether it makes the host wait is its affair. Implementations: mpi/transport_*.c; a
 * communicator chooses one (comm.h: open_transport).
 */
#ifndef MD_COMMON_RANKS_TRANSPORT_H
#define MD_COMMON_RANKS_TRANSPORT_H

#include "common/base/error.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct md_message {
  int to, from;     /* ranks; -1: nobody. Messages between two ranks match in the order of a list */
  const void *send; /* device memory */
  void *receive;    /* device memory */
  int64_t send_bytes, receive_bytes;
} md_message;

typedef struct md_transport md_transport;
struct md_transport {
  const char *name; /* for the log */
  void *state;
  /* All messages of the list, at once. Collective over the ranks named. */
  md_status (*exchange)(md_transport *, int n, const md_message *, void *stream) MD_CHECKED;
  /* In place, the largest over ranks of each of n values on the device. Collective. */
  md_status (*max)(md_transport *, uint32_t *values, int n, void *stream) MD_CHECKED;
  void (*destroy)(md_transport *);
};

/* How ranks open one, from the library of the GPU engine. */
typedef struct md_transport_opener {
  const char *mpi; /* the MPI library that it was compiled with, which must be the communicator's */
  /* communicator: an MPI_Comm's address. The rest as md_transport_open (mpi/transport.h) has it. */
  md_status (*open)(const void *communicator, const char *name, md_transport **) MD_CHECKED;
} md_transport_opener;

#ifdef __cplusplus
}
#endif
#endif
