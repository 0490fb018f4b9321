/* Choosing a transport between GPUs: peer access, NCCL, GPU-aware MPI, or staged messages.
 *
 * 1. All ranks open the first kind, or the one that was asked for.
 * 2. They try it, with messages of several sizes and with a maximum over ranks.
 * 3. If the kind does not open, hangs, or brings wrong bytes on any rank, all ranks go on to the next kind. The
 *    reason is kept for the log.
 *
 * All ranks decide together. This file also has what several transports share: error messages, and messages through
 * MPI.
 */
#include "mpi/transport/transport.h"
#include "mpi/library.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Bytes of the longest MPI message, characters of a name or a reason, and seconds that a trial may take. */
enum { MESSAGE_MOST = 1 << 30, TEXT = MD_TRANSPORT_REASON, PATIENCE = 30 };

/* The chosen transport `inner`, under a name that says which kinds were left out, and why. */
typedef struct described {
  md_transport transport, *inner;
  const char *asked; /* name of the kind that was asked for; NULL: any */
  int device;
  char name[TEXT];
} described;

static const struct {
  const char *name, *meaning;
  bool own_gpu; /* needs a GPU for each rank */
  md_status (*open)(MPI_Comm, md_transport **);
} kinds[] = {{"peer", "peer access", true, md_transport_peer},
             {"nccl", "NCCL", true, md_transport_nccl},
             {"aware", "GPU-aware MPI", false, md_transport_aware},
             {"staged", "staged", false, md_transport_staged}};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- for the transports ---- */

md_status md_transport_cuda(int result, const char *call)
{
  if (result == (int)cudaSuccess) return MD_OK;
  cudaGetLastError();
  return md_error(MD_RUNTIME, "CUDA: %.*s: %s", (int)strcspn(call, "("), call,
                  cudaGetErrorString((cudaError_t)result));
}

md_status md_transport_mpi(int code, const char *call)
{
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code == MPI_SUCCESS) return MD_OK;
  MPI_Error_string(code, text, &length);
  return md_error(MD_RUNTIME, "%.*s: %s", (int)strcspn(call, "("), call, text);
}

/* MPI counts bytes in an int. So long messages go in pieces, and both sides cut them in the same way. */
static int pieces(int64_t bytes) { return (int)((bytes + MESSAGE_MOST - 1) / MESSAGE_MOST); }

static int piece(int64_t bytes, int k)
{
  const int64_t left = bytes - (int64_t)k * MESSAGE_MOST;
  return (int)(left < MESSAGE_MOST ? left : MESSAGE_MOST);
}

/* The requests of a list of messages. */
typedef struct posted {
  MPI_Request *request;
  int n;
} posted;

/* Starts all receives and then all sends of a list. */
static md_status post(MPI_Comm ranks, int n, const md_message *message, posted *p)
{
  for (int m = 0; m < n; ++m)
    for (int k = 0; message[m].from >= 0 && k < pieces(message[m].receive_bytes); ++k) {
      char *to = (char *)message[m].receive + (int64_t)k * MESSAGE_MOST;
      MD_TRY_MPI(MPI_Irecv(to, piece(message[m].receive_bytes, k), MPI_BYTE, message[m].from, 0, ranks,
                           &p->request[p->n]));
      ++p->n;
    }
  for (int m = 0; m < n; ++m)
    for (int k = 0; message[m].to >= 0 && k < pieces(message[m].send_bytes); ++k) {
      const char *from = (const char *)message[m].send + (int64_t)k * MESSAGE_MOST;
      MD_TRY_MPI(MPI_Isend(from, piece(message[m].send_bytes, k), MPI_BYTE, message[m].to, 0, ranks,
                           &p->request[p->n]));
      ++p->n;
    }
  return MD_OK;
}

md_status md_transport_messages(MPI_Comm ranks, int n, const md_message *message)
{
  posted p = {NULL, 0};
  int most = 0;
  for (int m = 0; m < n; ++m) most += pieces(message[m].send_bytes) + pieces(message[m].receive_bytes);
  MD_TRY(md_array_new(&p.request, most, sizeof(MPI_Request), "requests"));
  md_status status = post(ranks, n, message, &p);
  if (status == MD_OK)
    status = md_transport_mpi(MPI_Waitall(p.n, p.request, MPI_STATUSES_IGNORE), "MPI_Waitall");
  free(p.request);
  return status;
}

md_status md_transport_host_max(MPI_Comm ranks, uint32_t *values, int n, uint32_t *host, void *stream)
{
  for (int k = 0; k < n; k += MD_TRANSPORT_WORDS) {
    const int words = n - k < MD_TRANSPORT_WORDS ? n - k : MD_TRANSPORT_WORDS;
    const size_t bytes = (size_t)words * sizeof *values;
    MD_TRY_CUDA(cudaMemcpyAsync(host, values + k, bytes, cudaMemcpyDeviceToHost, stream));
    MD_TRY_CUDA(cudaStreamSynchronize(stream));
    MD_TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, host, words, MPI_UINT32_T, MPI_MAX, ranks));
    MD_TRY_CUDA(cudaMemcpyAsync(values + k, host, bytes, cudaMemcpyHostToDevice, stream));
  }
  return MD_OK;
}

md_status md_transport_all_well(MPI_Comm ranks, md_status own, char *reason, bool *well)
{
  int rank, size;
  MD_TRY_MPI(MPI_Comm_rank(ranks, &rank));
  MD_TRY_MPI(MPI_Comm_size(ranks, &size));
  int failed = own == MD_OK ? size : rank;
  if (own != MD_OK) snprintf(reason, TEXT, "%.400s", md_error_text());
  MD_TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MIN, ranks));
  *well = failed == size;
  if (!*well) MD_TRY_MPI(MPI_Bcast(reason, TEXT, MPI_CHAR, failed, ranks));
  return MD_OK;
}

/* ---- the self-test ---- */

static uint32_t pattern(int rank, int64_t k) { return (uint32_t)rank * 2654435761u + (uint32_t)k * 40503u; }

/* Waits for the stream, at most PATIENCE seconds. */
static md_status wait_for(cudaStream_t stream)
{
  const struct timespec nap = {.tv_nsec = 100000};
  const double began = MPI_Wtime();
  for (;;) {
    const cudaError_t result = cudaStreamQuery(stream);
    if (result == cudaSuccess) return MD_OK;
    if (result != cudaErrorNotReady) return md_transport_cuda((int)result, "cudaStreamQuery");
    if (MPI_Wtime() - began > PATIENCE)
      return md_error(MD_RUNTIME, "a message did not arrive within %d s", PATIENCE);
    nanosleep(&nap, NULL);
  }
}

/* Sends n words to the next rank and n to the rank before, finds a maximum, and checks what came. device: room for 4
 * n words; host: for 2 n. */
static md_status try_messages(md_transport *t, int rank, int size, int64_t n, uint32_t *device,
                              uint32_t *host, cudaStream_t stream)
{
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  const int64_t bytes = n * (int64_t)sizeof *host;
  for (int64_t k = 0; k < 2 * n; ++k) host[k] = pattern(rank, k);
  MD_TRY_CUDA(cudaMemcpyAsync(device, host, (size_t)(2 * bytes), cudaMemcpyHostToDevice, stream));
  MD_TRY_CUDA(cudaMemsetAsync(device + 2 * n, 0, (size_t)(2 * bytes), stream));
  const md_message message[2] = {{next, before, device, device + 2 * n, bytes, bytes},
                                 {before, next, device + n, device + 3 * n, bytes, bytes}};
  MD_TRY(t->exchange(t, 2, message, stream));
  MD_TRY_CUDA(cudaMemcpyAsync(host, device + 2 * n, (size_t)(2 * bytes), cudaMemcpyDeviceToHost, stream));
  MD_TRY(t->max(t, device, 2, stream));
  uint32_t largest[2], expected[2] = {0, 0};
  MD_TRY_CUDA(cudaMemcpyAsync(largest, device, sizeof largest, cudaMemcpyDeviceToHost, stream));
  MD_TRY(wait_for(stream));
  for (int64_t k = 0; k < n; ++k)
    if (host[k] != pattern(before, k) || host[n + k] != pattern(next, n + k))
      return md_error(MD_RUNTIME, "a message of %lld bytes arrived damaged", (long long)bytes);
  for (int r = 0; r < size; ++r)
    for (int k = 0; k < 2; ++k)
      if (pattern(r, k) > expected[k]) expected[k] = pattern(r, k);
  if (largest[0] != expected[0] || largest[1] != expected[1])
    return md_error(MD_RUNTIME, "a maximum over ranks came out wrong");
  return MD_OK;
}

static md_status try_transport(md_transport *t, MPI_Comm ranks)
{
  static const int64_t words[] = {2, 1000, 300001};
  const int64_t most = words[2];
  int rank, size;
  MD_TRY_MPI(MPI_Comm_rank(ranks, &rank));
  MD_TRY_MPI(MPI_Comm_size(ranks, &size));
  cudaStream_t stream = NULL;
  uint32_t *device = NULL, *host = NULL;
  md_status status =
      md_transport_cuda((int)cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  if (status == MD_OK)
    status =
        md_transport_cuda((int)cudaMalloc((void **)&device, (size_t)most * 4 * sizeof *device), "cudaMalloc");
  if (status == MD_OK)
    status = md_transport_cuda((int)cudaMallocHost((void **)&host, (size_t)most * 2 * sizeof *host),
                               "cudaMallocHost");
  for (size_t k = 0; k < sizeof words / sizeof words[0] && status == MD_OK; ++k)
    status = try_messages(t, rank, size, words[k], device, host, stream);
  /* A message that hangs still uses this memory, and freeing it would wait for the message. Then it is not freed. */
  if (!stream || cudaStreamQuery(stream) != cudaErrorNotReady) {
    cudaFree(device);
    cudaFreeHost(host);
    if (stream) cudaStreamDestroy(stream);
  }
  return status;
}

/* ---- choosing ---- */

/* Opens and tries one kind. If it does not work, *transport becomes NULL, and `reason` says why. */
static md_status open_kind(MPI_Comm ranks, int kind, int sharers, char *reason, md_transport **transport)
{
  bool well;
  md_status status = kinds[kind].own_gpu && sharers > 1 ? md_error(MD_RUNTIME, "ranks share a GPU")
                                                        : kinds[kind].open(ranks, transport);
  MD_TRY(md_transport_all_well(ranks, status, reason, &well));
  if (well) {
    status = try_transport(*transport, ranks);
    MD_TRY(md_transport_all_well(ranks, status, reason, &well));
  }
  if (well || !*transport) return MD_OK;
  (*transport)->destroy(*transport);
  *transport = NULL;
  return MD_OK;
}

static md_status exchange(md_transport *t, int n, const md_message *message, void *stream)
{
  md_transport *inner = ((described *)t->state)->inner;
  return inner->exchange(inner, n, message, stream);
}

static md_status largest(md_transport *t, uint32_t *values, int n, void *stream)
{
  md_transport *inner = ((described *)t->state)->inner;
  return inner->max(inner, values, n, stream);
}

static void destroy(md_transport *t)
{
  described *d = t->state;
  d->inner->destroy(d->inner);
  free(d);
}

static md_status describe(md_transport *inner, const char *asked, const char *left_out,
                          md_transport **transport)
{
  described *d = calloc(1, sizeof *d);
  if (!d) {
    inner->destroy(inner);
    return md_error(MD_RUNTIME, "out of memory: the transport");
  }
  snprintf(d->name, sizeof d->name, left_out[0] ? "%s (%.380s)" : "%s", inner->name, left_out);
  d->inner = inner;
  d->asked = asked;
  cudaGetDevice(&d->device);
  d->transport =
      (md_transport){.name = d->name, .state = d, .exchange = exchange, .max = largest, .destroy = destroy};
  *transport = &d->transport;
  return MD_OK;
}

/* Keeps an open transport if, on every rank, it was opened for the same request and for the device that is current
 * now. Else ends it, and *transport becomes NULL. */
static md_status keep_or_end(MPI_Comm ranks, const char *asked, md_transport **transport)
{
  if (!*transport) return MD_OK;
  const described *d = (*transport)->state;
  int device = -1;
  MD_TRY_CUDA(cudaGetDevice(&device));
  int other = d->asked != asked || d->device != device;
  MD_TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &other, 1, MPI_INT, MPI_MAX, ranks));
  if (!other) return MD_OK;
  (*transport)->destroy(*transport);
  *transport = NULL;
  return MD_OK;
}

md_status md_transport_open(MPI_Comm ranks, const char *name, int sharers, md_transport **transport)
{
  char left_out[TEXT] = "", reason[TEXT] = "";
  const char *asked = NULL;
  for (int k = 0; k < KINDS && name; ++k)
    if (strcmp(name, kinds[k].name) == 0) asked = kinds[k].name;
  if (name && !asked)
    return md_error(MD_USAGE,
                    "package gpu transport: unknown '%.64s'; accepted are auto, peer, nccl, aware, staged",
                    name);
  MD_TRY(keep_or_end(ranks, asked, transport));
  if (*transport) return MD_OK;
  for (int k = 0; k < KINDS; ++k) {
    if (asked && asked != kinds[k].name) continue;
    md_transport *inner = NULL;
    MD_TRY(open_kind(ranks, k, sharers, reason, &inner));
    if (inner) return describe(inner, asked, left_out, transport);
    if (asked)
      return md_error(MD_USAGE, "package gpu transport %s does not work here: %s; use transport auto", asked,
                      reason);
    const size_t used = strlen(left_out);
    snprintf(left_out + used, sizeof left_out - used, "%snot %s: %.200s", used > 0 ? "; " : "",
             kinds[k].meaning, reason);
  }
  return md_error(MD_RUNTIME,
                  "no transport works between the GPUs of these ranks: %s; use one GPU, or engine openmp",
                  left_out);
}

static md_status open_for_program(const void *communicator, const char *name, int sharers,
                                  md_transport **transport)
{
  const MPI_Comm *ranks = communicator;
  return md_transport_open(*ranks, name, sharers, transport);
}

const md_transport_opener md_transport_mpi_opener = {MD_MPI_LIBRARY, open_for_program};
