/* NCCL: messages between GPUs over NVLink, PCIe or the network. The host does not wait.
 *
 * MPI carries NCCL's identifier from rank 0 to the other ranks, and with it they connect. A list of messages is one
 * group of sends and receives. A maximum is one reduction. Both work in the order of the stream.
 *
 * Trade-off: the host goes on while messages travel. But NCCL needs a GPU for each rank: ranks that share a GPU
 * would wait in NCCL for ever. So it is never opened for such ranks (mpi/transport/transport.c).
 *
 * Cost: 10 to 20 microseconds a list, and the bytes at the speed of the link.
 */
#include "mpi/transport/transport.h"

#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

#ifdef MD_WITH_NCCL
#include <nccl.h>

#include <stdio.h>

typedef struct over_nccl {
  md_transport transport;
  ncclComm_t comm;
  cudaEvent_t done; /* recorded after the last launch */
  char name[64];
} over_nccl;

static md_status check(ncclResult_t result, const char *call)
{
  if (result == ncclSuccess || result == ncclInProgress) return MD_OK;
  return md_error(MD_RUNTIME, "%.*s: %s", (int)strcspn(call, "("), call, ncclGetErrorString(result));
}

#define MD_TRY_NCCL(call) MD_TRY(check((call), #call))

static md_status post(const over_nccl *s, int n, const md_message *message, cudaStream_t stream)
{
  for (int k = 0; k < n; ++k) {
    const md_message *m = &message[k];
    if (m->to >= 0 && m->send_bytes > 0)
      MD_TRY_NCCL(ncclSend(m->send, (size_t)m->send_bytes, ncclInt8, m->to, s->comm, stream));
    if (m->from >= 0 && m->receive_bytes > 0)
      MD_TRY_NCCL(ncclRecv(m->receive, (size_t)m->receive_bytes, ncclInt8, m->from, s->comm, stream));
  }
  return MD_OK;
}

static md_status exchange(md_transport *t, int n, const md_message *message, void *stream)
{
  over_nccl *s = t->state;
  MD_TRY_NCCL(ncclGroupStart());
  const md_status status = post(s, n, message, stream);
  const md_status ended = check(ncclGroupEnd(), "ncclGroupEnd");
  MD_TRY(status);
  MD_TRY(ended);
  MD_TRY_CUDA(cudaEventRecord(s->done, stream));
  return MD_OK;
}

static md_status largest(md_transport *t, uint32_t *values, int n, void *stream)
{
  over_nccl *s = t->state;
  MD_TRY_NCCL(ncclAllReduce(values, values, (size_t)n, ncclUint32, ncclMax, s->comm, stream));
  MD_TRY_CUDA(cudaEventRecord(s->done, stream));
  return MD_OK;
}

/* ncclCommDestroy waits for all messages, and for ever if one never ends. Then ncclCommAbort ends them. */
static void destroy(md_transport *t)
{
  over_nccl *s = t->state;
  if (s->comm && cudaEventQuery(s->done) == cudaSuccess)
    ncclCommDestroy(s->comm);
  else if (s->comm)
    ncclCommAbort(s->comm);
  if (s->done) cudaEventDestroy(s->done);
  free(s);
}

static md_status connect(over_nccl *s, MPI_Comm ranks)
{
  int rank, size, version = 0;
  MD_TRY_MPI(MPI_Comm_rank(ranks, &rank));
  MD_TRY_MPI(MPI_Comm_size(ranks, &size));
  ncclUniqueId id;
  memset(&id, 0, sizeof id);
  /* If rank 0 fails here, the other ranks must not wait for it in ncclCommInitRank. */
  int failed = rank == 0 && ncclGetUniqueId(&id) != ncclSuccess;
  MD_TRY_MPI(MPI_Bcast(&failed, 1, MPI_INT, 0, ranks));
  if (failed) return md_error(MD_RUNTIME, "ncclGetUniqueId failed on rank 0");
  MD_TRY_MPI(MPI_Bcast(&id, (int)sizeof id, MPI_BYTE, 0, ranks));
  MD_TRY_CUDA(cudaEventCreateWithFlags(&s->done, cudaEventDisableTiming));
  MD_TRY_NCCL(ncclCommInitRank(&s->comm, size, id, rank));
  MD_TRY_NCCL(ncclGetVersion(&version));
  snprintf(s->name, sizeof s->name, "NCCL %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
  return MD_OK;
}

md_status md_transport_nccl(MPI_Comm ranks, md_transport **transport)
{
  *transport = NULL;
  over_nccl *s = calloc(1, sizeof *s);
  if (!s) return md_error(MD_RUNTIME, "out of memory: the transport");
  s->transport =
      (md_transport){.name = s->name, .state = s, .exchange = exchange, .max = largest, .destroy = destroy};
  const md_status status = connect(s, ranks);
  if (status != MD_OK) {
    destroy(&s->transport);
    return status;
  }
  *transport = &s->transport;
  return MD_OK;
}

#else

md_status md_transport_nccl(MPI_Comm ranks, md_transport **transport)
{
  (void)ranks;
  *transport = NULL;
  return md_error(MD_RUNTIME, "this build was made without NCCL");
}

#endif
