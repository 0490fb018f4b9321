/* Followed particles (common/sums/follow.h), for compute msd, vacf, com and gyration.
 *
 *   1. k_members notes once which particles are followed.
 *   2. k_follow reads the original indices, those of a quad a thread (quad.cuh): a bit by original index says which
 *      particles are followed, and the bits before it are the number of the record. Followed particles wait in a queue
 *      of their warp, until all its lanes have one to look at. If one particle in a hundred is followed, a warp without
 *      a queue looks at one or two of them in almost every round, and waits for their records each time.
 *
 *        original index   0   1   2   3   4   5   6  ...        the bits of 32 particles, and how many are
 *        member           1   0   0   1   1   0   1             set in the words before: 8 bytes, which stay
 *        record           0           1   2       3             in the cache
 *
 *   3. k_follow_largest and k_follow_sums go through the records alone, one after the other.
 *
 * Trade-off: records stay where they are, so that sorts do not move them, and a look gathers them. Cost: of a look 4
 * bytes for each particle, and some 150 for each that is followed; of sums 64 bytes a record, twice.
 */
#include "gpu/output/measure.cuh"
#include "gpu/sums/launches.cuh"
#include "gpu/sums/quad.cuh"

#include <algorithm>

enum { FOLLOW_THREADS = 256, RECORDS_OF_THREAD = 1024 };

static __global__ void __launch_bounds__(FOLLOW_THREADS)
    k_members(int n, const uint32_t *group, uint32_t bit, unsigned *member)
{
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const bool is = i < n && ((group ? group[i] : MD_GROUP_ALL) & bit) != 0;
  const unsigned word = __ballot_sync(0xffffffffu, is);
  if ((threadIdx.x & 31) == 0 && i / 32 <= n / 32) member[i / 32] = word;
}

md_status launch_members(const launch &l, int n, const uint32_t *group, uint32_t bit, unsigned *member)
{
  const int64_t threads = 32 * ((int64_t)n / 32 + 1);
  k_members<<<blocks_for(threads, FOLLOW_THREADS), FOLLOW_THREADS, 0, l.stream>>>(n, group, bit, member);
  MD_LAUNCHED("k_members");
  return MD_OK;
}

/* The record of a particle with this original index; -1: it is not followed. The bits of most particles are not read,
 * if those that are followed lie together. */
static __device__ __forceinline__ int record_of_origin(const follow_args &a, int origin)
{
  if (origin < a.first || origin > a.last) return -1;
  const unsigned word = a.member[origin >> 5], bit = 1u << (origin & 31);
  return word & bit ? a.before[origin >> 5] + __popc(word & (bit - 1u)) : -1;
}

/* The records of a quad, which is there or not. */
static __device__ __forceinline__ void records_of(const follow_args &a, const quad &b, bool is_there,
                                                  int record[QUAD])
{
  quad_numbers<int> origin;
  if (is_there && a.each.fields.origin) origin = numbers_of(b, a.each.fields.origin);
#pragma unroll
  for (int k = 0; k < QUAD; ++k) {
    if (!a.each.fields.origin) origin.of[k] = b.first + k;
    record[k] = is_there && b.first + k < b.particles ? record_of_origin(a, origin.of[k]) : -1;
  }
}

/* Looks at particle i, which has record number `at`. */
template <class T>
static __device__ __forceinline__ void look_at(const system_view<T> &s, const follow_args &a, int i, int at,
                                               md_follow_pace *pace)
{
  const output_particle one = load_particle<T, !T::MIXED>(s, a.each, i);
  md_follow_record *const record = &a.record[at];
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) pace->speed = fmax(pace->speed, fabs(one.v[d]));
  if (a.what.velocities) {
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) record->last[d] = one.v[d];
    return;
  }
  md_follow_record r = *record;
  const int lost = md_follow_look(&a.what, &r, one.x, &pace->moved);
  if (lost >= 0) atomicMin(a.fault, (unsigned long long)at << 2 | (unsigned)lost);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    record->last[d] = r.last[d];
    record->through[d] = r.through[d];
  }
}

/* Particles of a warp that are still to be looked at: their indices, and their records. */
enum { FOLLOW_WAITING = 31 + 32 * QUAD };
struct follow_queue {
  int2 at[FOLLOW_WAITING];
};

/* Puts the particles of a quad that have a record into the queue, which has `waiting` entries. Returns the number of
 * entries after that. All lanes of a warp call it. */
static __device__ __forceinline__ int enqueue(follow_queue &queue, int waiting, int first,
                                              const int record[QUAD])
{
  const unsigned before = (1u << (threadIdx.x & 31)) - 1u;
#pragma unroll
  for (int k = 0; k < QUAD; ++k) {
    const unsigned lanes = __ballot_sync(0xffffffffu, record[k] >= 0);
    if (record[k] >= 0) queue.at[waiting + __popc(lanes & before)] = make_int2(first + k, record[k]);
    waiting += __popc(lanes);
  }
  return waiting;
}

template <class T>
static __global__ void __launch_bounds__(FOLLOW_THREADS)
    k_follow(const __grid_constant__ system_view<T> s, const __grid_constant__ follow_args a)
{
  __shared__ follow_queue queues[FOLLOW_THREADS / 32];
  follow_queue &queue = queues[threadIdx.x / 32];
  const int quads = quads_of(s.n), lane = threadIdx.x & 31;
  md_follow_pace pace = {0.0, 0.0};
  int waiting = 0;
  for (int first = blockIdx.x * blockDim.x + threadIdx.x - lane; first < quads;
       first += gridDim.x * blockDim.x) {
    const quad b = {QUAD * (first + lane), s.n, 0u};
    int record[QUAD];
    records_of(a, b, first + lane < quads, record);
    waiting = enqueue(queue, waiting, b.first, record);
    __syncwarp();
    while (waiting >= 32) {
      waiting -= 32;
      const int2 one = queue.at[waiting + lane];
      look_at<T>(s, a, one.x, one.y, &pace);
    }
    __syncwarp();
  }
  if (lane < waiting) look_at<T>(s, a, queue.at[lane].x, queue.at[lane].y, &pace);
  __syncwarp();
  widen(&a.pace[0], pace.speed);
  widen(&a.pace[1], pace.moved);
}

template <class T> md_status launch_follow(const launch &l, const system_view<T> &s, const follow_args &a)
{
  const int blocks = std::min(blocks_for(quads_of(s.n), FOLLOW_THREADS), 8 * l.processors);
  k_follow<T><<<blocks, FOLLOW_THREADS, 0, l.stream>>>(s, a);
  MD_LAUNCHED("k_follow");
  return MD_OK;
}

/* The terms of record k; 0 beyond the last. */
static __device__ __forceinline__ void terms_of_record(const follow_sum_args &a, int64_t k,
                                                       double term[MD_FOLLOW_TERMS])
{
  for (int t = 0; t < MD_FOLLOW_TERMS; ++t) term[t] = 0.0;
  if (k >= a.n) return;
  const md_follow_record r = a.record[k];
  md_follow_terms_of(&a.what, &a.sum, &r, a.mass[r.type - 1], term);
}

static __global__ void __launch_bounds__(FOLLOW_THREADS)
    k_follow_largest(const __grid_constant__ follow_sum_args a, unsigned long long *largest)
{
  double most[MD_FOLLOW_TERMS] = {}, term[MD_FOLLOW_TERMS];
  for (int64_t first = (int64_t)blockIdx.x * blockDim.x; first < a.n;
       first += (int64_t)gridDim.x * blockDim.x) {
    terms_of_record(a, first + threadIdx.x, term);
#pragma unroll
    for (int t = 0; t < MD_FOLLOW_TERMS; ++t) most[t] = fmax(most[t], md_each_size(term[t]));
  }
#pragma unroll
  for (int t = 0; t < MD_FOLLOW_TERMS; ++t) widen(&largest[t], most[t]);
}

/* A thread has so few records that its sums stay within 64 bits. */
static __global__ void __launch_bounds__(FOLLOW_THREADS)
    k_follow_sums(const __grid_constant__ follow_sum_args a, fine_sums total)
{
  md_fine sum[MD_FOLLOW_TERMS] = {};
  double term[MD_FOLLOW_TERMS];
  for (int64_t first = (int64_t)blockIdx.x * blockDim.x; first < a.n;
       first += (int64_t)gridDim.x * blockDim.x) {
    terms_of_record(a, first + threadIdx.x, term);
#pragma unroll
    for (int t = 0; t < MD_FOLLOW_TERMS; ++t) md_fine_add(&sum[t], term[t] * a.counts[t]);
  }
#pragma unroll
  for (int t = 0; t < MD_FOLLOW_TERMS; ++t) add_sum(total, t, MD_FOLLOW_TERMS, sum[t]);
}

md_status launch_follow_sums(const launch &l, const follow_sum_args &a, unsigned long long *largest,
                             fine_sums total)
{
  const int most = blocks_for(a.n, FOLLOW_THREADS), least = blocks_for(most, RECORDS_OF_THREAD);
  const int blocks = std::min(most, std::max(least, 8 * l.processors));
  if (largest)
    k_follow_largest<<<blocks, FOLLOW_THREADS, 0, l.stream>>>(a, largest);
  else
    k_follow_sums<<<blocks, FOLLOW_THREADS, 0, l.stream>>>(a, total);
  MD_LAUNCHED("k_follow_sums");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_follow<T>(const launch &, const system_view<T> &, const follow_args &);
MD_LAYOUTS(INSTANCE)
