/* GPU-aware MPI: messages between GPUs by an MPI library that itself reads and writes device memory.
 *
 * The library is used only if it says that it can do this. For a list of messages the host waits for the stream, and
 * then gives the addresses in device memory to MPI.
 *
 * Trade-off: no copy through memory of this program, and any network that the library knows. But the host waits.
 *
 * Cost: the host waits for the stream at every list of messages. How the bytes travel depends on the library.
 *
 * Reference: Open MPI's extension MPIX_Query_cuda_support; MPICH offers the same.
 */
#include "mpi/transport/transport.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stdlib.h>

#if defined __has_include
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif

typedef struct aware {
  md_transport transport;
  MPI_Comm ranks;
  uint32_t *word; /* pinned host memory, for maxima */
} aware;

static md_status exchange(md_transport *t, int n, const md_message *message, void *stream)
{
  const aware *s = t->state;
  MD_TRY_CUDA(cudaStreamSynchronize(stream));
  return md_transport_messages(s->ranks, n, message);
}

static md_status largest(md_transport *t, uint32_t *values, int n, void *stream)
{
  const aware *s = t->state;
  return md_transport_host_max(s->ranks, values, n, s->word, stream);
}

static void destroy(md_transport *t)
{
  aware *s = t->state;
  cudaFreeHost(s->word);
  free(s);
}

static bool library_is_aware(void)
{
#if defined MPIX_CUDA_AWARE_SUPPORT && MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

md_status md_transport_aware(MPI_Comm ranks, md_transport **transport)
{
  *transport = NULL;
  if (!library_is_aware())
    return md_error(MD_RUNTIME, "this MPI library does not say that it can send device memory");
  aware *s = calloc(1, sizeof *s);
  if (!s) return md_error(MD_RUNTIME, "out of memory: the transport");
  s->ranks = ranks;
  s->transport = (md_transport){
      .name = "GPU-aware MPI", .state = s, .exchange = exchange, .max = largest, .destroy = destroy};
  const md_status status = md_transport_cuda(
      cudaMallocHost((void **)&s->word, MD_TRANSPORT_WORDS * sizeof *s->word), "cudaMallocHost");
  if (status != MD_OK) {
    free(s);
    return status;
  }
  *transport = &s->transport;
  return MD_OK;
}
