/* Opening a transport: a way to send messages between the device memories of ranks. The interface of a transport is
 * in common/ranks/transport.h.
 *
 * All functions below are collective, but for md_transport_cuda and md_transport_mpi. They are in the library of the
 * GPU engine, if mpicc was found when it was built.
 */
#ifndef MD_MPI_TRANSPORT_TRANSPORT_H
#define MD_MPI_TRANSPORT_TRANSPORT_H

#include "common/ranks/transport.h"

#include <mpi.h>
#include <stdbool.h>

/* Opens the transport `name` (peer, nccl, aware or staged), or (name NULL) the first of these that works. Before, every
 * rank must have made its device the current one. sharers: the largest number of ranks that have the same device;
 * above 1, the kinds that need a device for each rank are not opened. Each kind is tried with real messages. The name
 * of the transport says which kind it is, and what was wrong with the kinds before it. *transport, on entry: NULL, or a
 * transport of an earlier call. That one stays if it still fits name and device, and is destroyed if not. The caller
 * owns *transport and ends it with ->destroy. MD_USAGE: there is no transport of this name, or it does not work here;
 * the message says why. MD_RUNTIME: none works. */
md_status md_transport_open(MPI_Comm ranks, const char *name, int sharers,
                            md_transport **transport) MD_CHECKED;

/* The same function, as the program gets it from the library of the GPU engine. Static. */
extern const md_transport_opener md_transport_mpi_opener;

/* One rank's part of opening each kind. peer and nccl: no two ranks have the same device. The status may differ from
 * rank to rank. *transport is NULL after an error; else the caller ends it with ->destroy. */
md_status md_transport_peer(MPI_Comm ranks, md_transport **transport) MD_CHECKED;
md_status md_transport_nccl(MPI_Comm ranks, md_transport **transport) MD_CHECKED;
md_status md_transport_aware(MPI_Comm ranks, md_transport **transport) MD_CHECKED;
md_status md_transport_staged(MPI_Comm ranks, md_transport **transport) MD_CHECKED;

/* ---- for the transports ---- */

/* Take what a CUDA call (a cudaError_t) or an MPI call has returned. Return MD_OK, or MD_RUNTIME with a message that
 * names the call. */
md_status md_transport_cuda(int result, const char *call) MD_CHECKED;
md_status md_transport_mpi(int code, const char *call) MD_CHECKED;
#define MD_TRY_CUDA(call) MD_TRY(md_transport_cuda((int)(call), #call))
#define MD_TRY_MPI(call) MD_TRY(md_transport_mpi((call), #call))

/* *well: whether `own` is MD_OK on all ranks. If not, reason[MD_TRANSPORT_REASON] gets the message of the lowest rank
 * with an error. Collective. */
enum { MD_TRANSPORT_REASON = 512 };
md_status md_transport_all_well(MPI_Comm ranks, md_status own, char *reason, bool *well) MD_CHECKED;

/* Sends and receives all messages through MPI, and waits for them. Their memory must be memory that MPI can read and
 * write: the host's, or the device's with GPU-aware MPI. Collective over the ranks that the messages name. */
md_status md_transport_messages(MPI_Comm ranks, int n, const md_message *message) MD_CHECKED;

/* In place, the maximum over ranks of each of n values on the device, in the order of the stream. host: pinned
 * memory for MD_TRANSPORT_WORDS words; the values go through it, that many at a time. The host waits for the stream. */
enum { MD_TRANSPORT_WORDS = 64 };
md_status md_transport_host_max(MPI_Comm ranks, uint32_t *values, int n, uint32_t *host,
                                void *stream) MD_CHECKED;

#endif
