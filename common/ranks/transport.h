/* Transports: messages between the device memories of ranks.
 *
 * A transport works in the order of a CUDA stream. It sends what kernels launched before it have written, and
 * kernels launched after it see what was received. Some transports make the host wait, others do not. The
 * implementations are mpi/transport/transport_*.c, and the communicator chooses one (comm.h: open_transport).
 */
#ifndef MD_COMMON_RANKS_TRANSPORT_H
#define MD_COMMON_RANKS_TRANSPORT_H

#include "common/base/error.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A message to one rank and a message from another. Messages between the same two ranks match in the order of the
 * list. */
typedef struct md_message {
  int to, from;     /* ranks; -1: no rank */
  const void *send; /* device memory */
  void *receive;    /* device memory */
  int64_t send_bytes, receive_bytes;
} md_message;

typedef struct md_transport md_transport;
struct md_transport {
  const char *name; /* for the log */
  void *state;
  /* Sends and receives all n messages of the list at once, in the order of `stream` (a cudaStream_t). All ranks that
   * the messages name must call it. */
  md_status (*exchange)(md_transport *, int n, const md_message *, void *stream) MD_CHECKED;
  /* In place, the maximum over ranks of each of n values on the device, in the order of `stream`. Collective. */
  md_status (*max)(md_transport *, uint32_t *values, int n, void *stream) MD_CHECKED;
  /* Frees the transport. */
  void (*destroy)(md_transport *);
};

/* How the communicator opens a transport: a function of the library of the GPU engine. */
typedef struct md_transport_opener {
  const char *mpi; /* the MPI library of that build, which must be the communicator's */
  /* communicator: address of an MPI_Comm. The other arguments are those of md_transport_open
   * (mpi/transport/transport.h). */
  md_status (*open)(const void *communicator, const char *name, int sharers, md_transport **) MD_CHECKED;
} md_transport_opener;

#ifdef __cplusplus
}
#endif
#endif
