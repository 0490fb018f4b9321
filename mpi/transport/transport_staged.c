/* Staged messages: between GPUs through pinned host memory and any MPI library.
 *
 *      device --copy--> host --MPI--> host --copy--> device
 *
 * 1. The messages of a list are copied to the host.
 * 2. MPI sends them to the other ranks, which receive them in pinned host memory.
 * 3. The received messages are copied to the device.
 *
 * A received message stays in its pinned buffer until its copy to the device is done. The next list overwrites the
 * buffer only after it has waited for the stream, and so for that copy.
 *
 * Trade-off: this transport always works, also between ranks that share a GPU. But the host waits, and all bytes go
 * through its memory.
 *
 * Cost: the host waits for the stream at every list, and every byte crosses the bus twice.
 */
#include "mpi/transport/transport.h"

#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

typedef struct staged {
  md_transport transport;
  MPI_Comm ranks;
  char *out, *in; /* pinned host memory */
  int64_t out_capacity, in_capacity;
  md_message *local; /* the messages of a list, with addresses in host memory */
  int messages;
  uint32_t *word; /* pinned host memory, for maxima */
} staged;

static md_status reserve(char **buffer, int64_t *capacity, int64_t bytes)
{
  if (bytes <= *capacity) return MD_OK;
  if (*buffer) MD_TRY_CUDA(cudaFreeHost(*buffer));
  *buffer = NULL;
  *capacity = 0;
  bytes += bytes / 8;
  MD_TRY_CUDA(cudaMallocHost((void **)buffer, (size_t)bytes));
  *capacity = bytes;
  return MD_OK;
}

static md_status reserve_messages(staged *s, int n)
{
  if (n <= s->messages) return MD_OK;
  free(s->local);
  s->local = NULL;
  s->messages = 0;
  MD_TRY(md_array_new(&s->local, n, sizeof *s->local, "messages"));
  s->messages = n;
  return MD_OK;
}

static md_status exchange(md_transport *t, int n, const md_message *message, void *stream)
{
  staged *s = t->state;
  int64_t out = 0, in = 0;
  MD_TRY(reserve_messages(s, n));
  for (int k = 0; k < n; ++k) {
    out += message[k].to >= 0 ? message[k].send_bytes : 0;
    in += message[k].from >= 0 ? message[k].receive_bytes : 0;
  }
  MD_TRY_CUDA(cudaStreamSynchronize(stream));
  MD_TRY(reserve(&s->out, &s->out_capacity, out));
  MD_TRY(reserve(&s->in, &s->in_capacity, in));
  out = in = 0;
  for (int k = 0; k < n; ++k) {
    s->local[k] = message[k];
    if (message[k].to >= 0 && message[k].send_bytes > 0) {
      s->local[k].send = s->out + out;
      MD_TRY_CUDA(cudaMemcpyAsync(s->out + out, message[k].send, (size_t)message[k].send_bytes,
                                  cudaMemcpyDeviceToHost, stream));
      out += message[k].send_bytes;
    }
    if (message[k].from >= 0) {
      s->local[k].receive = s->in + in;
      in += message[k].receive_bytes;
    }
  }
  MD_TRY_CUDA(cudaStreamSynchronize(stream));
  MD_TRY(md_transport_messages(s->ranks, n, s->local));
  for (int k = 0; k < n; ++k)
    if (message[k].from >= 0 && message[k].receive_bytes > 0)
      MD_TRY_CUDA(cudaMemcpyAsync(message[k].receive, s->local[k].receive, (size_t)message[k].receive_bytes,
                                  cudaMemcpyHostToDevice, stream));
  return MD_OK;
}

static md_status largest(md_transport *t, uint32_t *values, int n, void *stream)
{
  const staged *s = t->state;
  return md_transport_host_max(s->ranks, values, n, s->word, stream);
}

static void destroy(md_transport *t)
{
  staged *s = t->state;
  cudaFreeHost(s->out);
  cudaFreeHost(s->in);
  cudaFreeHost(s->word);
  free(s->local);
  free(s);
}

md_status md_transport_staged(MPI_Comm ranks, md_transport **transport)
{
  *transport = NULL;
  staged *s = calloc(1, sizeof *s);
  if (!s) return md_error(MD_RUNTIME, "out of memory: the transport");
  s->ranks = ranks;
  s->transport = (md_transport){.name = "staged through pinned host memory",
                                .state = s,
                                .exchange = exchange,
                                .max = largest,
                                .destroy = destroy};
  const md_status status = md_transport_cuda(
      cudaMallocHost((void **)&s->word, MD_TRANSPORT_WORDS * sizeof *s->word), "cudaMallocHost");
  if (status != MD_OK) {
    free(s);
    return status;
  }
  *transport = &s->transport;
  return MD_OK;
}
