/* Sums of values over the particles in bins, and counts of particles by value (common/compute/each.h), for fix
 * ave/chunk and fix ave/histo.
 *
 *   1. k_largest finds the largest size of each value, from which the host chooses quanta.
 *   2. k_bin_sums adds the values of the particles of a warp that are in the same bin, by shuffles, and one lane adds
 *      the sum to that of the device. Particles lie in the order of cells, so that a warp meets few bins.
 *   3. k_count_values counts by value in a table in shared memory, which a block adds to the device's at its end.
 *
 * Trade-off: without the sums of a warp a bin would get an atomic for each of its particles, one behind the other. A
 * table that does not fit into shared memory is counted by atomics on the device. Cost: each particle is read once, and
 * twice for sums.
 */
#include "common/compute/each_formulas.h"
#include "gpu/particle/images.cuh"
#include "gpu/particle/launch.cuh"

#include <algorithm>

enum { EACH_THREADS = 256, VALUE_TABLE = 4096, FEW = 4 };

/* A particle, its place in the box, and its velocity. */
struct seen_particle {
  md_particle p;
  double x[3], v[3];
};

template <class T>
static __device__ __forceinline__ seen_particle see(const system_view<T> &s, const particle_fields &f,
                                                    double quantum, int i)
{
  seen_particle seen = {};
  const typename T::particle r = wrapped<T>(s, present_particle<T>(s, i));
  seen.p = particle_of<T>(s, f, i);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    seen.x[d] = T::where(s.scale, d, r.x[d]);
    if (T::MIXED && s.box.periodic[d] && seen.x[d] >= s.box.hi[d]) seen.x[d] -= s.box.length[d];
    seen.v[d] = md_particle_velocity(&seen.p, d, quantum);
  }
  return seen;
}

/* The bin of a particle; -1: it counts in none. */
static __device__ __forceinline__ int bin_of_particle(const md_bins &b, const seen_particle &seen)
{
  return (seen.p.group & b.groups) == b.groups ? (int)md_bins_at(&b, seen.x) : -1;
}

template <class T>
static __global__ void __launch_bounds__(EACH_THREADS)
    k_largest(const __grid_constant__ system_view<T> s, const __grid_constant__ each_args a,
              const __grid_constant__ md_bins b, unsigned long long *largest)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  seen_particle seen = {};
  if (i < s.n) seen = see<T>(s, a.fields, a.quantum, i);
  const bool counts = i < s.n && bin_of_particle(b, seen) >= 0;
  for (int k = 0; k < b.nvalue; ++k) {
    double size = counts ? md_each_size(md_each_value(&b.value[k], &seen.p, seen.x, seen.v, T::DIM)) : 0.0;
    for (int lane = 16; lane > 0; lane /= 2) size = fmax(size, __shfl_xor_sync(0xffffffffu, size, lane));
    /* Numbers that are not negative have the order of their bits. */
    const unsigned long long bits = (unsigned long long)__double_as_longlong(size);
    if ((threadIdx.x & 31) == 0 && bits > largest[k]) atomicMax(&largest[k], bits);
  }
}

/* Adds the terms of the lanes `same` of a warp, all of one bin, to a sum. mine: this lane is one of them. */
static __device__ __forceinline__ void add_together(unsigned same, bool mine, int64_t term,
                                                    unsigned long long *sum)
{
  if (__popc(same) < FEW) {
    if (mine) atomicAdd(sum, (unsigned long long)term);
    return;
  }
  long long all = mine ? term : 0;
  for (int lane = 16; lane > 0; lane /= 2) all += __shfl_xor_sync(0xffffffffu, all, lane);
  if ((int)(threadIdx.x & 31) == __ffs((int)same) - 1) atomicAdd(sum, (unsigned long long)all);
}

template <class T>
static __global__ void __launch_bounds__(EACH_THREADS)
    k_bin_sums(const __grid_constant__ system_view<T> s, const __grid_constant__ each_args a,
               const __grid_constant__ md_bins b, unsigned long long *sum)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x, width = 1 + 2 * b.nvalue;
  seen_particle seen = {};
  int64_t whole[MD_BINS_VALUES] = {}, rest[MD_BINS_VALUES] = {};
  if (i < s.n) seen = see<T>(s, a.fields, a.quantum, i);
  const int bin = i < s.n ? bin_of_particle(b, seen) : -1;
#pragma unroll
  for (int k = 0; k < MD_BINS_VALUES; ++k)
    if (k < b.nvalue && bin >= 0)
      md_each_terms(md_each_value(&b.value[k], &seen.p, seen.x, seen.v, T::DIM), b.quantum[k], &whole[k],
                    &rest[k]);
  for (unsigned left = __ballot_sync(0xffffffffu, bin >= 0); left;) {
    const int at = __shfl_sync(0xffffffffu, bin, __ffs((int)left) - 1);
    const unsigned same = __ballot_sync(0xffffffffu, bin == at);
    unsigned long long *to = sum + (int64_t)at * width;
    left &= ~same;
    if ((int)(threadIdx.x & 31) == __ffs((int)same) - 1) atomicAdd(to, (unsigned long long)__popc(same));
#pragma unroll
    for (int k = 0; k < MD_BINS_VALUES; ++k)
      if (k < b.nvalue) {
        add_together(same, bin == at, whole[k], to + 1 + 2 * k);
        add_together(same, bin == at, rest[k], to + 2 + 2 * k);
      }
  }
}

template <class T>
md_status launch_bin_sums(const launch &l, const system_view<T> &s, const each_args &a, const md_bins &b,
                          bool largest, unsigned long long *to)
{
  const int blocks = blocks_for(s.n, EACH_THREADS);
  if (largest)
    k_largest<T><<<blocks, EACH_THREADS, 0, l.stream>>>(s, a, b, to);
  else
    k_bin_sums<T><<<blocks, EACH_THREADS, 0, l.stream>>>(s, a, b, to);
  MD_LAUNCHED("k_bin_sums");
  return MD_OK;
}

/* A number whose order as an integer is that of the value. */
static __device__ __forceinline__ unsigned long long ordered(double value)
{
  const unsigned long long bits = (unsigned long long)__double_as_longlong(value + 0.0);
  return bits >> 63 ? ~bits : bits | 1ull << 63;
}

template <class T>
static __global__ void __launch_bounds__(EACH_THREADS)
    k_count_values(const __grid_constant__ system_view<T> s, const __grid_constant__ each_args a,
                   const __grid_constant__ md_value_counts c, unsigned long long *count,
                   unsigned long long *range)
{
  __shared__ unsigned table[VALUE_TABLE];
  const int64_t size = MD_VALUES_BINS + c.bins;
  const bool local = size <= VALUE_TABLE;
  unsigned long long least = ~0ull, most = 0ull;
  for (int k = threadIdx.x; local && k < size; k += blockDim.x) table[k] = 0u;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < s.n; i += gridDim.x * blockDim.x) {
    const seen_particle seen = see<T>(s, a.fields, a.quantum, i);
    if (!(seen.p.group & c.group)) continue;
    const double value = md_each_value(&c.value, &seen.p, seen.x, seen.v, T::DIM);
    const int64_t bin = md_value_bin(&c, value);
    const int64_t at = bin < 0 ? (int64_t)MD_VALUES_MISSING : MD_VALUES_BINS + bin;
    const unsigned long long order = ordered(value);
    least = min(least, order);
    most = max(most, order);
    if (local)
      atomicAdd(&table[at], 1u);
    else
      atomicAdd(&count[at], 1ull);
  }
  if (least <= most) {
    atomicMin(&range[0], least);
    atomicMax(&range[1], most);
  }
  __syncthreads();
  for (int k = threadIdx.x; local && k < size; k += blockDim.x)
    if (table[k] > 0u) atomicAdd(&count[k], (unsigned long long)table[k]);
}

template <class T>
md_status launch_count_values(const launch &l, const system_view<T> &s, const each_args &a,
                              const md_value_counts &c, unsigned long long *count, unsigned long long *range)
{
  const int blocks = std::min(blocks_for(s.n, EACH_THREADS), 8 * l.processors);
  k_count_values<T><<<blocks, EACH_THREADS, 0, l.stream>>>(s, a, c, count, range);
  MD_LAUNCHED("k_count_values");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_bin_sums<T>(const launch &, const system_view<T> &, const each_args &,           \
                                        const md_bins &, bool, unsigned long long *);                        \
  template md_status launch_count_values<T>(const launch &, const system_view<T> &, const each_args &,       \
                                            const md_value_counts &, unsigned long long *,                   \
                                            unsigned long long *);
MD_LAYOUTS(INSTANCE)
