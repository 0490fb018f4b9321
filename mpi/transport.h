/* Ways between the device memories of ranks, and choosing one of them; the interface is common/ranks/transport.h.
 *
 * Functions below are collective. They are in the library of the GPU engine, if mpicc was found.
 */
#ifndef MD_MPI_TRANSPORT_H
#define MD_MPI_TRANSPORT_H

#include "common/ranks/transport.h"

#include <mpi.h>

/* Opens the way `name` (nccl, aware or staged), or (NULL) the first of these that works, once every rank has made its
 * device the current one. Each is tried with real messages; the transport's name says which it is and what was wrong with
 * those before it. *transport: NULL, or one opened before, which stays if it still serves and is ended if not.
 * MD_USAGE: the way that was asked for does not work, and why. The caller ends it with ->destroy. */
md_status md_transport_open(MPI_Comm ranks, const char *name, md_transport **transport) MD_CHECKED;

/* The same, for the program. */
extern const md_transport_opener md_transport_mpi_opener;

/* One rank's part of opening each kind: its status may differ from that of other ranks. *transport: NULL after an
 * error. */
md_status md_transport_nccl(MPI_Comm ranks, md_transport **transport) MD_CHECKED;
md_status md_transport_aware(MPI_Comm ranks, md_transport **transport) MD_CHECKED;
md_status md_transport_staged(MPI_Comm ranks, md_transport **transport) MD_CHECKED;

/* ---- for the transports ---- */

/* MD_OK, or an error naming the call; for cudaError_t and for what MPI returns. */
md_status md_transport_cuda(int result, const char *call) MD_CHECKED;
md_status md_transport_mpi(int code, const char *call) MD_CHECKED;
#define MD_TRY_CUDA(call) MD_TRY(md_transport_cuda((int)(call), #call))
#define MD_TRY_MPI(call) MD_TRY(md_transport_mpi((call), #call))

/* Sends and receives all messages through MPI, wherever it can read and write. */
md_status md_transport_messages(MPI_Comm ranks, int n, const md_message *message) MD_CHECKED;

/* The largest over ranks, in the order of the stream; host: pinned memory for MD_TRANSPORT_WORDS words, so many of
 * which go at once. Makes the host wait. */
enum { MD_TRANSPORT_WORDS = 64 };
md_status md_transport_host_max(MPI_Comm ranks, uint32_t *values, int n, uint32_t *host,
                                void *stream) MD_CHECKED;

#endif
