/* Peer access: messages between the GPUs of one host, by stores of kernels into each other's memory.
 *
 * Each rank allocates a mailbox on its GPU. MPI carries the mailboxes' handles to the other ranks, which map them
 * (CUDA: interprocess communication). After that messages and maxima are kernels (gpu/ranks/mailbox.h).
 *
 * Trade-off: the host goes on while messages travel, and a message takes a third of the time that it takes with NCCL.
 * But all ranks must be on one host, each with a GPU of its own that can reach the others. NCCL does the rest.
 *
 * Cost: 5 microseconds a list, and the bytes at the speed of the link; 1 MiB of device memory for each rank, and 8 MiB
 * for two ranks.
 * Reference: the CUDA programming guide, interprocess communication.
 */
#include "gpu/ranks/mailbox.h"
#include "mpi/transport/transport.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Seconds in which the ranks must come to the end of a transport. */
enum { PATIENCE = 5 };

typedef struct peer {
  md_transport transport;
  MPI_Comm ranks;
  mailboxes boxes;
  mailbox_list sent, received;
  uint32_t maxima;    /* number of the last maximum */
  uint32_t *given_up; /* pinned host memory */
  cudaEvent_t done;   /* recorded after the last launch */
} peer;

static md_status put(mailbox_list *list, int rank, const void *at, int64_t bytes)
{
  if (rank < 0 || bytes == 0) return MD_OK;
  if (list->n == MAILBOX_LIST)
    return md_error(MD_RUNTIME, "more than %d messages at once: take package gpu transport nccl",
                    MAILBOX_LIST);
  list->rank[list->n] = rank;
  list->at[list->n] = (char *)at;
  list->bytes[list->n++] = bytes;
  return MD_OK;
}

static md_status exchange(md_transport *t, int n, const md_message *message, void *stream)
{
  peer *s = t->state;
  s->sent.n = s->received.n = 0;
  for (int k = 0; k < n; ++k) {
    MD_TRY(put(&s->sent, message[k].to, message[k].send, message[k].send_bytes));
    MD_TRY(put(&s->received, message[k].from, message[k].receive, message[k].receive_bytes));
  }
  MD_TRY(mailbox_exchange(&s->boxes, &s->sent, &s->received, stream));
  MD_TRY_CUDA(cudaEventRecord(s->done, stream));
  return MD_OK;
}

static md_status largest(md_transport *t, uint32_t *values, int n, void *stream)
{
  peer *s = t->state;
  for (int k = 0; k < n; k += MAILBOX_WORDS) {
    const int words = n - k < MAILBOX_WORDS ? n - k : MAILBOX_WORDS;
    MD_TRY(mailbox_max(&s->boxes, values + k, words, ++s->maxima, stream));
  }
  MD_TRY_CUDA(cudaEventRecord(s->done, stream));
  return MD_OK;
}

/* Have all ranks come here within PATIENCE seconds? Collective. */
static bool all_are_here(MPI_Comm ranks)
{
  const struct timespec nap = {.tv_nsec = 100000};
  const double began = MPI_Wtime();
  MPI_Request request;
  int done = 0;
  if (MPI_Ibarrier(ranks, &request) != MPI_SUCCESS) return false;
  while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
    if (MPI_Wtime() - began > PATIENCE) return false;
    nanosleep(&nap, NULL);
  }
  return done;
}

/* A mailbox is freed only when no other rank has it mapped. If a rank does not come, it is not freed. Collective. */
static void destroy(md_transport *t)
{
  peer *s = t->state;
  if (s->done && cudaEventQuery(s->done) == cudaErrorNotReady) {
    *(volatile uint32_t *)s->given_up = 1;
    cudaEventSynchronize(s->done);
  }
  for (int r = 0; r < s->boxes.ranks; ++r)
    if (r != s->boxes.rank && s->boxes.of[r]) cudaIpcCloseMemHandle(s->boxes.of[r]);
  if (all_are_here(s->ranks)) cudaFree(s->boxes.of[s->boxes.rank]);
  if (s->done) cudaEventDestroy(s->done);
  cudaFreeHost(s->given_up);
  free(s);
}

/* MD_RUNTIME on every rank if the ranks are on several hosts. */
static md_status on_one_host(MPI_Comm ranks, int size)
{
  MPI_Comm host;
  int here = 0;
  MD_TRY_MPI(MPI_Comm_split_type(ranks, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  MD_TRY_MPI(MPI_Comm_size(host, &here));
  MD_TRY_MPI(MPI_Comm_free(&host));
  int apart = here < size;
  MD_TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &apart, 1, MPI_INT, MPI_MAX, ranks));
  if (apart) return md_error(MD_RUNTIME, "ranks are on several hosts");
  return MD_OK;
}

static md_status make_mailbox(peer *s, cudaIpcMemHandle_t *handle)
{
  const size_t bytes = mailbox_bytes(s->boxes.ranks);
  void *at = NULL;
  MD_TRY_CUDA(cudaMalloc(&at, bytes));
  s->boxes.of[s->boxes.rank] = at;
  MD_TRY_CUDA(cudaMemset(at, 0, bytes));
  MD_TRY_CUDA(cudaIpcGetMemHandle(handle, at));
  MD_TRY_CUDA(cudaMallocHost((void **)&s->given_up, sizeof *s->given_up));
  *s->given_up = 0;
  s->boxes.given_up = s->given_up;
  MD_TRY_CUDA(cudaEventCreateWithFlags(&s->done, cudaEventDisableTiming));
  MD_TRY_CUDA(cudaStreamSynchronize(NULL));
  return MD_OK;
}

static md_status map_mailboxes(peer *s, const cudaIpcMemHandle_t *handle)
{
  for (int r = 0; r < s->boxes.ranks; ++r) {
    void *at = NULL;
    if (r == s->boxes.rank) continue;
    MD_TRY_CUDA(cudaIpcOpenMemHandle(&at, handle[r], cudaIpcMemLazyEnablePeerAccess));
    s->boxes.of[r] = at;
  }
  return MD_OK;
}

/* MD_RUNTIME on every rank, with the message of one, if `own` is an error on any rank. */
static md_status all_or_none(MPI_Comm ranks, md_status own)
{
  char reason[MD_TRANSPORT_REASON];
  bool well;
  MD_TRY(md_transport_all_well(ranks, own, reason, &well));
  return well ? MD_OK : md_error(MD_RUNTIME, "%s", reason);
}

static md_status connect(peer *s)
{
  MD_TRY_MPI(MPI_Comm_rank(s->ranks, &s->boxes.rank));
  MD_TRY_MPI(MPI_Comm_size(s->ranks, &s->boxes.ranks));
  const int size = s->boxes.ranks;
  if (size > MAILBOX_RANKS) return md_error(MD_RUNTIME, "more than %d ranks", MAILBOX_RANKS);
  s->boxes.stripes = mailbox_stripes(size);
  MD_TRY(on_one_host(s->ranks, size));
  cudaIpcMemHandle_t own, all[MAILBOX_RANKS];
  memset(&own, 0, sizeof own);
  MD_TRY(all_or_none(s->ranks, make_mailbox(s, &own)));
  MD_TRY_MPI(MPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, s->ranks));
  return all_or_none(s->ranks, map_mailboxes(s, all));
}

md_status md_transport_peer(MPI_Comm ranks, md_transport **transport)
{
  *transport = NULL;
  peer *s = calloc(1, sizeof *s);
  if (!s) return md_error(MD_RUNTIME, "out of memory: the transport");
  s->ranks = ranks;
  s->transport = (md_transport){
      .name = "peer access", .state = s, .exchange = exchange, .max = largest, .destroy = destroy};
  const md_status status = connect(s);
  if (status != MD_OK) {
    destroy(&s->transport);
    return status;
  }
  *transport = &s->transport;
  return MD_OK;
}
