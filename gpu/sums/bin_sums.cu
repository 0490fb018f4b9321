/* Sums of values over the particles in bins, and counts of particles by value (common/sums/each.h), for fix
 * ave/chunk and fix ave/histo.
 *
 *   1. k_bin_sums finds the largest size of each value, from which the host chooses quanta. In the same pass it adds
 *      the values up with the quanta that it is given: the host keeps sums whose quanta were right.
 *   2. Particles lie in the order of cells, so that those of a warp meet few bins, one after the other. Shuffles add
 *      up each run of particles in the same bin, and its first lane adds the sum to a table in shared memory, which a
 *      block adds to the device's at its end.
 *   3. k_count_values counts by value, in a table in shared memory too.
 *
 * Only what the values need is read: positions for places and bins, groups where they matter. Groups and second words
 * of momenta lie by original index, so that a read of 4 bytes takes 32 from memory.
 *
 * Trade-off: without the sums of runs a bin would get an atomic for each of its particles, one after the other. A
 * table that does not fit into shared memory is counted by atomics on the device. k_bin_sums is compiled for few values
 * too, because registers for the most values would halve the number of resident warps. Cost: each particle is read
 * once; for sums two shuffles and a vote for each doubling of the longest run and each term, and four shared atomics
 * for each run and value. Values that neighbours give have instances of their own: the others would take a tenth more
 * registers with them.
 */
#include "gpu/sums/output_particle.cuh"

#include <algorithm>

/* SUM_WORDS: most words of the table of a block, of 32 bits. FEW_VALUES: values of most bins. */
enum { EACH_THREADS = 256, VALUE_TABLE = 4096, SUM_WORDS = 12288, FEW_VALUES = 3 };

/* The bin of a particle; -1: it counts in none. */
static __device__ __forceinline__ int bin_of_particle(const md_bins &b, const output_particle &one)
{
  return (one.p.group & b.groups) == b.groups ? (int)md_bins_at(&b, one.x) : -1;
}

/* The sums of a block: those of the device, or in shared memory the same numbers, each as its lower and its upper
 * word. */
extern __shared__ unsigned words[];
struct bin_table {
  bool local;
  unsigned long long *sum;
};

static __device__ __forceinline__ void add_to_table(const bin_table &t, int64_t k, unsigned long long term)
{
  if (!t.local) {
    atomicAdd(&t.sum[k], term);
    return;
  }
  const unsigned lower = (unsigned)term, before = atomicAdd(&words[2 * k], lower);
  const unsigned upper = (unsigned)(term >> 32) + (before + lower < before ? 1u : 0u);
  if (upper != 0u) atomicAdd(&words[2 * k + 1], upper);
}

/* The lanes of a warp that belong together: each lane, and those after it up to `last`, have the same bin. */
struct lane_run {
  int last;
  bool first;  /* this lane is the first of a run that counts */
  int longest; /* lanes of the longest run of the warp, rounded up to a power of two */
};

static __device__ __forceinline__ lane_run run_of(int bin)
{
  const int lane = threadIdx.x & 31, before = __shfl_sync(0xffffffffu, bin, lane - 1);
  const bool begins = lane == 0 || before != bin;
  const unsigned after = __ballot_sync(0xffffffffu, begins) & ~((2u << lane) - 1u);
  const int last = after ? __ffs((int)after) - 2 : 31;
  int longest = 1;
  while (longest < 32 && __any_sync(0xffffffffu, lane + longest <= last)) longest *= 2;
  return lane_run{last, begins && bin >= 0, longest};
}

/* The sum over the lanes from this one to the last of its run. */
static __device__ __forceinline__ unsigned long long sum_of_run(const lane_run &run, int64_t term)
{
  const int lane = threadIdx.x & 31;
  unsigned long long sum = (unsigned long long)term;
  for (int step = 1; step < run.longest; step *= 2) {
    const unsigned long long other = __shfl_sync(0xffffffffu, sum, lane + step);
    if (lane + step <= run.last) sum += other;
  }
  return sum;
}

/* Adds a particle in a bin to the table, with all lanes of its warp; bin < 0: this lane has none. VALUES: the most
 * values. */
template <int VALUES>
static __device__ __forceinline__ void add_particles(const md_bins &b, const bin_table &t, int bin,
                                                     const double *value)
{
  const lane_run run = run_of(bin);
  const int64_t at = (int64_t)bin * (1 + 2 * b.nvalue);
  if (run.first) add_to_table(t, at, (unsigned long long)(run.last - (int)(threadIdx.x & 31) + 1));
#pragma unroll
  for (int k = 0; k < VALUES; ++k) {
    if (k >= b.nvalue) break;
    int64_t term[2] = {0, 0};
    if (bin >= 0) md_each_terms(value[k], b.quantum[k], &term[0], &term[1]);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const unsigned long long sum = sum_of_run(run, term[half]);
      if (run.first) add_to_table(t, at + 1 + 2 * k + half, sum);
    }
  }
}

/* What the neighbours of particle i give for a value. NEAR: are there such values in this launch? */
template <bool NEAR>
static __device__ __forceinline__ const double *near_of(const each_args &a, const md_each &e, int i)
{
  return NEAR ? md_each_near(&e, origin_of(a.fields, i)) : nullptr;
}

template <class T, int VALUES, bool NEAR>
static __global__ void __launch_bounds__(EACH_THREADS)
    k_bin_sums(const __grid_constant__ system_view<T> s, const __grid_constant__ each_args a,
               const __grid_constant__ md_bins b, bool local, unsigned long long *largest,
               unsigned long long *sum)
{
  const int size = local ? (int)(b.n * (1 + 2 * b.nvalue)) : 0;
  const bin_table t = {local, sum};
  double most[VALUES] = {};
  for (int k = threadIdx.x; k < 2 * size; k += blockDim.x) words[k] = 0u;
  __syncthreads();
  for (int first = blockIdx.x * blockDim.x; first < s.n; first += gridDim.x * blockDim.x) {
    const int i = first + threadIdx.x;
    output_particle one = {};
    double value[VALUES] = {};
    if (i < s.n) one = load_particle<T>(s, a, i);
    const int bin = i < s.n ? bin_of_particle(b, one) : -1;
#pragma unroll
    for (int k = 0; k < VALUES; ++k) {
      if (k >= b.nvalue) break;
      const md_each &of = b.value[k];
      if (bin >= 0) value[k] = md_each_value(&of, &one.p, near_of<NEAR>(a, of, i), one.x, one.v, T::DIM);
      most[k] = fmax(most[k], md_each_size(value[k]));
    }
    if (sum) add_particles<VALUES>(b, t, bin, value);
  }
#pragma unroll
  for (int k = 0; k < VALUES; ++k)
    if (k < b.nvalue) widen(&largest[k], most[k]);
  __syncthreads();
  for (int k = threadIdx.x; k < size; k += blockDim.x) {
    const unsigned long long term = (unsigned long long)words[2 * k + 1] << 32 | words[2 * k];
    if (term != 0) atomicAdd(&sum[k], term);
  }
}

template <class T>
md_status launch_bin_sums(const launch &l, const system_view<T> &s, const each_args &a, const md_bins &b,
                          unsigned long long *largest, unsigned long long *sum)
{
  const int blocks = std::min(blocks_for(s.n, EACH_THREADS), 8 * l.processors);
  const int64_t size = 2 * b.n * (1 + 2 * b.nvalue);
  const bool local = sum && size <= SUM_WORDS;
  bool near = false;
  for (int k = 0; k < b.nvalue; ++k) near = near || b.value[k].code.value;
  const size_t bytes = local ? (size_t)size * sizeof(unsigned) : 0;
  if (near)
    k_bin_sums<T, MD_BINS_VALUES, true>
        <<<blocks, EACH_THREADS, bytes, l.stream>>>(s, a, b, local, largest, sum);
  else if (b.nvalue <= FEW_VALUES)
    k_bin_sums<T, FEW_VALUES, false><<<blocks, EACH_THREADS, bytes, l.stream>>>(s, a, b, local, largest, sum);
  else
    k_bin_sums<T, MD_BINS_VALUES, false>
        <<<blocks, EACH_THREADS, bytes, l.stream>>>(s, a, b, local, largest, sum);
  MD_LAUNCHED("k_bin_sums");
  return MD_OK;
}

/* A number whose order as an integer is that of the value. */
static __device__ __forceinline__ unsigned long long ordered(double value)
{
  const unsigned long long bits = (unsigned long long)__double_as_longlong(value + 0.0);
  return bits >> 63 ? ~bits : bits | 1ull << 63;
}

template <class T, bool NEAR>
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
    const output_particle one = load_particle<T>(s, a, i);
    if (!(one.p.group & c.group)) continue;
    const double value = md_each_value(&c.value, &one.p, near_of<NEAR>(a, c.value, i), one.x, one.v, T::DIM);
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
  for (int lane = 16; lane > 0; lane /= 2) {
    least = min(least, __shfl_xor_sync(0xffffffffu, least, lane));
    most = max(most, __shfl_xor_sync(0xffffffffu, most, lane));
  }
  if ((threadIdx.x & 31) == 0 && least <= most) {
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
  const bool near = c.value.code.value != nullptr;
  if (near)
    k_count_values<T, true><<<blocks, EACH_THREADS, 0, l.stream>>>(s, a, c, count, range);
  else
    k_count_values<T, false><<<blocks, EACH_THREADS, 0, l.stream>>>(s, a, c, count, range);
  MD_LAUNCHED("k_count_values");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_bin_sums<T>(const launch &, const system_view<T> &, const each_args &,           \
                                        const md_bins &, unsigned long long *, unsigned long long *);        \
  template md_status launch_count_values<T>(const launch &, const system_view<T> &, const each_args &,       \
                                            const md_value_counts &, unsigned long long *,                   \
                                            unsigned long long *);
MD_LAYOUTS(INSTANCE)
