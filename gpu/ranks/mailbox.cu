/* The kernels of mailboxes; mailbox.h has the algorithm. */
#include "gpu/ranks/mailbox.h"
#include "gpu/runtime/cuda.h"

#include <algorithm>
#include <cuda/atomic>

namespace
{

/* A chunk is moved by all threads of a block at once, as 16 bytes four times. */
enum { THREADS = 256, EACH = MAILBOX_CHUNK / 16 / THREADS, STRIPE_LEAST = 4096 };

typedef cuda::atomic_ref<uint32_t, cuda::thread_scope_system> system_word;
typedef cuda::atomic_ref<uint64_t, cuda::thread_scope_system> system_word_pair;

__host__ __device__ int64_t stripes_of(int64_t bytes, int most)
{
  const int64_t stripes = (bytes + STRIPE_LEAST - 1) / STRIPE_LEAST;
  return stripes < most ? stripes : (int64_t)most;
}

/* Copies n <= MAILBOX_CHUNK bytes. Loads go past L1, which does not see what other GPUs store. */
__device__ void copy_chunk(char *to, const char *from, int n)
{
  const uintptr_t places = (uintptr_t)to | (uintptr_t)from;
  int done = 0;
  if (places % 16 == 0) {
    const int lines = n / 16;
    int4 kept[EACH];
#pragma unroll
    for (int k = 0; k < EACH; ++k)
      if ((int)threadIdx.x + k * THREADS < lines)
        kept[k] = __ldcg((const int4 *)from + threadIdx.x + k * THREADS);
#pragma unroll
    for (int k = 0; k < EACH; ++k)
      if ((int)threadIdx.x + k * THREADS < lines) ((int4 *)to)[threadIdx.x + k * THREADS] = kept[k];
    done = lines * 16;
  } else if (places % 4 == 0) {
    done = n / 4 * 4;
    for (int k = threadIdx.x * 4; k < done; k += THREADS * 4)
      *(int *)(to + k) = __ldcg((const int *)(from + k));
  }
  for (int k = done + threadIdx.x; k < n; k += THREADS) to[k] = __ldcg(from + k);
}

/* Thread 0 waits until *count - at > least, modulo 2^32. Returns true to all threads if the host has given up. */
__device__ bool gives_up_waiting(uint32_t *count, uint32_t at, int least, const uint32_t *given_up)
{
  bool gives_up = false;
  if (threadIdx.x == 0)
    for (int turn = 1; (int32_t)(system_word(*count).load(cuda::memory_order_acquire) - at) <= least; ++turn)
      if (turn % 1024 == 0 && *(const volatile uint32_t *)given_up) {
        gives_up = true;
        break;
      }
  return __syncthreads_or(gives_up);
}

/* Block x, y moves stripe x of all messages to rank y, or, from y = ranks on, from rank y - ranks. */
__global__ void __launch_bounds__(THREADS)
    k_exchange(const __grid_constant__ mailboxes boxes, const __grid_constant__ mailbox_list sent,
               const __grid_constant__ mailbox_list received)
{
  const int stripe = blockIdx.x, rank = blockIdx.y % boxes.ranks;
  const bool sends = blockIdx.y < boxes.ranks;
  const mailbox_list &list = sends ? sent : received;
  mailbox_channel *own = &boxes.of[boxes.rank]->channel[rank * boxes.stripes + stripe];
  mailbox_channel *other = &boxes.of[rank]->channel[boxes.rank * boxes.stripes + stripe];
  uint32_t count = sends ? own->sent : own->read;
  for (int m = 0; m < list.n; ++m) {
    if (list.rank[m] != rank) continue;
    const int64_t bytes = list.bytes[m], stripes = stripes_of(bytes, boxes.stripes);
    const int64_t size = ((bytes + stripes - 1) / stripes + 15) / 16 * 16;
    const int64_t end = (stripe + 1) * size < bytes ? (stripe + 1) * size : bytes;
    for (int64_t at = stripe * size; at < end; at += MAILBOX_CHUNK) {
      const int n = (int)(end - at < MAILBOX_CHUNK ? end - at : MAILBOX_CHUNK);
      char *there = (sends ? other : own)->chunk[count % MAILBOX_CHUNKS], *here = list.at[m] + at;
      if (gives_up_waiting(sends ? &own->emptied : &own->filled, count, sends ? -MAILBOX_CHUNKS : 0,
                           boxes.given_up))
        return;
      if (sends)
        copy_chunk(there, here, n);
      else
        copy_chunk(here, there, n);
      ++count;
      __syncthreads();
      if (threadIdx.x == 0)
        system_word(*(sends ? &other->filled : &other->emptied)).store(count, cuda::memory_order_release);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) *(sends ? &own->sent : &own->read) = count;
}

/* Thread r, k stores word k for rank r, and waits for that of rank r. */
__global__ void k_max(const __grid_constant__ mailboxes boxes, uint32_t *values, uint32_t number)
{
  __shared__ uint32_t largest[MAILBOX_WORDS];
  const int k = threadIdx.x, r = threadIdx.y;
  if (r == 0) largest[k] = values[k];
  __syncthreads();
  if (r != boxes.rank) {
    const uint64_t word = (uint64_t)number << 32 | values[k];
    system_word_pair(boxes.of[r]->word[number % 2][boxes.rank][k]).store(word, cuda::memory_order_relaxed);
    system_word_pair other(boxes.of[boxes.rank]->word[number % 2][r][k]);
    uint64_t came = other.load(cuda::memory_order_relaxed);
    for (int turn = 1; came >> 32 != number; ++turn) {
      if (turn % 1024 == 0 && *(const volatile uint32_t *)boxes.given_up) break;
      came = other.load(cuda::memory_order_relaxed);
    }
    atomicMax(&largest[k], (uint32_t)came);
  }
  __syncthreads();
  if (r == 0) values[k] = largest[k];
}

} // namespace

md_status mailbox_exchange(const mailboxes *boxes, const mailbox_list *sent, const mailbox_list *received,
                           void *stream)
{
  int64_t stripes = 0;
  for (const mailbox_list *list : {sent, received})
    for (int m = 0; m < list->n; ++m) stripes = std::max(stripes, stripes_of(list->bytes[m], boxes->stripes));
  if (stripes == 0) return MD_OK;
  k_exchange<<<dim3((unsigned)stripes, 2u * boxes->ranks), THREADS, 0, (cudaStream_t)stream>>>(*boxes, *sent,
                                                                                               *received);
  MD_LAUNCHED("k_exchange");
  return MD_OK;
}

md_status mailbox_max(const mailboxes *boxes, uint32_t *values, int n, uint32_t number, void *stream)
{
  k_max<<<1, dim3((unsigned)n, (unsigned)boxes->ranks), 0, (cudaStream_t)stream>>>(*boxes, values, number);
  MD_LAUNCHED("k_max");
  return MD_OK;
}
