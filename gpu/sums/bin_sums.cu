/* Sums of values over the particles in bins, and counts of particles by value (common/sums/each.h), for fix
 * ave/chunk and fix ave/histo.
 *
 *   1. k_bin_sums finds the largest size of each value, from which the host chooses quanta. In the same pass it adds
 *      the values up with the quanta that it is given: the host keeps sums whose quanta were right.
 *   2. A thread takes a quad of particles that lie one after the other (quad.cuh). They lie in the order of cells,
 *      so that they meet few bins. Each run of particles in the same bin is added up in registers, and then to a table
 *      in shared memory, which a block adds to the device's at its end. A warp whose particles are all in one bin adds
 *      them up by shuffles first.
 *
 *        bins of a quad    4 4 4 5    ->    4: three particles, 5: one particle
 *
 *   3. k_count_values counts by value, in a table in shared memory too.
 *   4. A product and a sum give the place of a particle among bins with a small error. If the place is farther from
 *      every border of bins than that, its whole part is the bin. Else the formula of the host decides.
 *
 * Only what the values need is read: positions for places and bins, components of velocities, groups where they matter.
 * Groups and second words of momenta lie by original index, so that a read of 4 bytes takes 32 from memory.
 *
 * Trade-off: without the sums of runs a bin would get an atomic for each of its particles, one after the other. A
 * table that does not fit into shared memory is counted by atomics on the device. Cost: each particle is read once. A
 * profile of one value takes some 115 instructions a particle, and a histogram of sqrt(vx^2+vy^2) some 105.
 */
#include "gpu/sums/launches.cuh"
#include "gpu/sums/quad.cuh"

#include <algorithm>

/* SUM_WORDS: most words of the table of a block, of 32 bits. */
enum { EACH_THREADS = 256, VALUE_TABLE = 4096, SUM_WORDS = 12288 };

/* Where a place lies among the bins along an axis: near per * place + shift. A place within BORDER of a border of bins
 * is left to md_layer_at. So is every one, if per is no number. */
struct bin_scale {
  double per[MD_BINS_AXES], shift[MD_BINS_AXES], bins[MD_BINS_AXES];
};
#define BORDER 0x1p-18

/* The errors of the place here and of that of md_layer_at are below 2^-49 times the largest number on the way. */
static bin_scale scale_of(const md_bins &b)
{
  bin_scale scale = {};
  for (int k = 0; k < b.naxis; ++k) {
    const md_layers &l = b.along[k];
    const double lo = l.reduced ? l.lo / l.length : 0.0;
    const double most = l.per * (fabs(lo) + fabs(l.first) + 1.0) + (double)l.n;
    scale.per[k] = l.reduced ? l.per / l.length : l.per;
    scale.shift[k] = -(lo + l.first) * l.per;
    scale.bins[k] = (double)l.n;
    if (!(most < 0x1p28)) scale.per[k] = (double)NAN;
  }
  return scale;
}

/* The bins of places along axis k of the bins; -1: a place is in none. */
static __device__ __forceinline__ void layers_of(const md_bins &b, const bin_scale &scale, int k,
                                                 const double place[QUAD], int layer[QUAD])
{
  const int unsure = -2;
  bool all_sure = true;
#pragma unroll
  for (int j = 0; j < QUAD; ++j) {
    const double at = fma(place[j], scale.per[k], scale.shift[k]), rounded = at + MD_ROUND;
    const double off = at - (rounded - MD_ROUND);
    const bool sure = (fabs(off) > BORDER) & (at > 0.0) & (at < scale.bins[k]);
    layer[j] = sure ? __double2loint(rounded) - (off < 0.0 ? 1 : 0) : unsure;
    all_sure = all_sure && sure;
  }
  if (all_sure) return;
    /* Few places come here. One copy of the formula is enough, and takes fewer registers. */
#pragma unroll 1
  for (int j = 0; j < QUAD; ++j) {
    const int right = (int)md_layer_at(&b.along[k], number_in_quad(place, j));
#pragma unroll
    for (int i = 0; i < QUAD; ++i)
      if (i == j && layer[i] == unsure) layer[i] = right;
  }
}

/* 0 for the particles of a quad that count, which are in all groups of the bits, and -1 for others. */
static __device__ __forceinline__ void members_of(const each_args &a, uint32_t groups, const quad &of,
                                                  int member[QUAD])
{
  if (a.fields.group) {
#pragma unroll
    for (int k = 0; k < QUAD; ++k)
      member[k] = (group_of(a.fields, in_quad(of, k)) & groups) == groups ? 0 : -1;
  } else {
#pragma unroll
    for (int k = 0; k < QUAD; ++k) member[k] = (MD_GROUP_ALL & groups) == groups ? 0 : -1;
  }
#pragma unroll
  for (int k = 0; k < QUAD; ++k)
    if (of.first + k >= of.particles) member[k] = -1;
}

/* The bins of a quad; -1: a particle counts in none. */
template <class T>
static __device__ __forceinline__ void bins_of(const system_view<T> &s, const each_args &a, const md_bins &b,
                                               const bin_scale &scale, const quad &of, int bin[QUAD])
{
  members_of(a, b.groups, of, bin);
#pragma unroll 1
  for (int axis = 0; axis < b.naxis; ++axis) {
    const int layers = (int)b.along[axis].n;
    double place[QUAD];
    int layer[QUAD];
    places_of<T>(s, of, b.along[axis].axis, place);
    layers_of(b, scale, axis, place, layer);
#pragma unroll
    for (int k = 0; k < QUAD; ++k) bin[k] = bin[k] < 0 || layer[k] < 0 ? -1 : bin[k] * layers + layer[k];
  }
}

/* The sums of a block: those of the device, or in shared memory the same numbers, each as its lower and its upper
 * word. */
extern __shared__ unsigned words[];
struct bin_table {
  bool local;
  int width; /* sums of a bin */
  unsigned long long *sum;
};

/* Adds the number of particles. The upper words stay 0: a block has fewer than 2^31 of them. */
static __device__ __forceinline__ void add_number(const bin_table &t, int bin, int number)
{
  if (t.local)
    atomicAdd(&words[2 * bin * t.width], (unsigned)number);
  else
    atomicAdd(&t.sum[(int64_t)bin * t.width], (unsigned long long)number);
}

static __device__ __forceinline__ void add_term(const bin_table &t, int bin, int column,
                                                unsigned long long term)
{
  if (!t.local) {
    atomicAdd(&t.sum[(int64_t)bin * t.width + column], term);
    return;
  }
  unsigned *const word = &words[2 * (bin * t.width + column)];
  const unsigned lower = (unsigned)term, before = atomicAdd(&word[0], lower);
  const unsigned upper = (unsigned)(term >> 32) + (before + lower < before ? 1u : 0u);
  if (upper != 0u) atomicAdd(&word[1], upper);
}

/* Is the whole warp in one bin? */
static __device__ __forceinline__ bool warp_has_one_bin(const int bin[QUAD])
{
  const int first = __shfl_sync(0xffffffffu, bin[0], 0);
  bool other = false;
#pragma unroll
  for (int k = 0; k < QUAD; ++k) other = other || bin[k] != first;
  return !__any_sync(0xffffffffu, other);
}

static __device__ __forceinline__ bool ends_run(const int bin[QUAD], int k)
{
  return k + 1 == QUAD || bin[k + 1] != bin[k];
}

/* Counts the particles of a quad in their bins. All lanes of a warp call it. */
static __device__ __forceinline__ void count_quad(const bin_table &t, const int bin[QUAD], bool one_bin)
{
  if (one_bin) {
    if ((threadIdx.x & 31) == 0 && bin[0] >= 0) add_number(t, bin[0], 32 * QUAD);
    return;
  }
  int number = 0;
#pragma unroll
  for (int k = 0; k < QUAD; ++k) {
    ++number;
    if (!ends_run(bin, k)) continue;
    if (bin[k] >= 0) add_number(t, bin[k], number);
    number = 0;
  }
}

/* Adds the two terms of each particle of a quad to two columns of its bin. All lanes of a warp call it. */
static __device__ __forceinline__ void add_quad(const bin_table &t, int column, const int bin[QUAD],
                                                bool one_bin, const double value[QUAD], double quantum)
{
  unsigned long long whole = 0, rest = 0;
#pragma unroll
  for (int k = 0; k < QUAD; ++k) {
    int64_t more, more_rest;
    md_each_terms(value[k], quantum, &more, &more_rest);
    whole += (unsigned long long)more;
    rest += (unsigned long long)more_rest;
    if (one_bin || !ends_run(bin, k)) continue;
    if (bin[k] >= 0) {
      add_term(t, bin[k], column, whole);
      add_term(t, bin[k], column + 1, rest);
    }
    whole = rest = 0;
  }
  if (!one_bin) return;
  for (int lane = 16; lane > 0; lane /= 2) {
    whole += __shfl_xor_sync(0xffffffffu, whole, lane);
    rest += __shfl_xor_sync(0xffffffffu, rest, lane);
  }
  if ((threadIdx.x & 31) != 0 || bin[0] < 0) return;
  add_term(t, bin[0], column, whole);
  add_term(t, bin[0], column + 1, rest);
}

/* Makes *most at least the upper word of the size of the values, for the particles in bins; 1 for less than that, if
 * it is not 0. Numbers that are not negative have the order of their words. */
static __device__ __forceinline__ void widen_most(int *most, const int bin[QUAD], const double value[QUAD])
{
  int largest = 0;
#pragma unroll
  for (int k = 0; k < QUAD; ++k) {
    const int upper = __double2hiint(value[k]) & 0x7fffffff, lower = __double2loint(value[k]);
    if (bin[k] >= 0) largest = max(largest, max(upper, lower != 0 ? 1 : 0));
  }
  largest = warp_largest(largest);
  if ((threadIdx.x & 31) == 0 && largest > *most) atomicMax(most, largest);
}

/* The number that stands for all with this upper word: the largest of them. */
static __device__ __forceinline__ unsigned long long size_of_word(int upper)
{
  if (upper >= 0x7ff00000) return 0x7ffull << 52;
  return upper > 0 ? (unsigned long long)upper << 32 | 0xffffffffu : 0ull;
}

template <class T, bool TOGETHER>
static __global__ void __launch_bounds__(EACH_THREADS, TOGETHER && !T::TAGGED ? 4 : 3)
    k_bin_sums(const __grid_constant__ system_view<T> s, const __grid_constant__ each_args a,
               const __grid_constant__ md_bins b, const __grid_constant__ bin_scale scale, bool local,
               unsigned long long *largest, unsigned long long *sum)
{
  __shared__ int most[MD_BINS_VALUES];
  const bin_table t = {local, 1 + 2 * b.nvalue, sum};
  const int size = local ? (int)b.n * t.width : 0;
  const unsigned parity = progress_before(s.ctl, s.launch).parity;
  for (int k = threadIdx.x; k < 2 * size; k += blockDim.x) words[k] = 0u;
  if (threadIdx.x < MD_BINS_VALUES) most[threadIdx.x] = 0;
  __syncthreads();
  const int quads = quads_of(s.n);
  for (int first = blockIdx.x * blockDim.x; first < quads; first += gridDim.x * blockDim.x) {
    const quad of = {QUAD * (first + (int)threadIdx.x), s.n, parity};
    int bin[QUAD];
    bins_of<T>(s, a, b, scale, of, bin);
    const bool one_bin = warp_has_one_bin(bin);
    if (sum) count_quad(t, bin, one_bin);
#pragma unroll 1
    for (int k = 0; k < b.nvalue; ++k) {
      double value[QUAD];
      values_of<T, TOGETHER>(s, a, b.value[k], of, value);
      widen_most(&most[k], bin, value);
      if (sum) add_quad(t, 1 + 2 * k, bin, one_bin, value, b.quantum[k]);
    }
  }
  __syncthreads();
  if ((int)threadIdx.x < b.nvalue) atomicMax(&largest[threadIdx.x], size_of_word(most[threadIdx.x]));
  for (int k = threadIdx.x; k < size; k += blockDim.x) {
    const unsigned long long term = (unsigned long long)words[2 * k + 1] << 32 | words[2 * k];
    if (term != 0) atomicAdd(&sum[k], term);
  }
}

/* Blocks for the quads of all particles: each walks. */
static int blocks_of_quads(const launch &l, int n)
{
  return std::min(blocks_for(quads_of(n), EACH_THREADS), 8 * l.processors);
}

template <class T>
md_status launch_bin_sums(const launch &l, const system_view<T> &s, const each_args &a, const md_bins &b,
                          unsigned long long *largest, unsigned long long *sum)
{
  if (s.n == 0) return MD_OK;
  const int blocks = blocks_of_quads(l, s.n);
  const int64_t size = 2 * b.n * (1 + 2 * b.nvalue);
  const bool local = sum && size <= SUM_WORDS;
  bool together = true;
  for (int k = 0; k < b.nvalue; ++k) together = together && is_found_together(b.value[k]);
  const size_t bytes = local ? (size_t)size * sizeof(unsigned) : 0;
  const bin_scale scale = scale_of(b);
  if (together)
    k_bin_sums<T, true><<<blocks, EACH_THREADS, bytes, l.stream>>>(s, a, b, scale, local, largest, sum);
  else
    k_bin_sums<T, false><<<blocks, EACH_THREADS, bytes, l.stream>>>(s, a, b, scale, local, largest, sum);
  MD_LAUNCHED("k_bin_sums");
  return MD_OK;
}

/* A number whose order as an integer is that of the value. */
static __device__ __forceinline__ unsigned long long ordered(double value)
{
  const unsigned long long bits = (unsigned long long)__double_as_longlong(value + 0.0);
  return bits >> 63 ? ~bits : bits | 1ull << 63;
}

/* The least and the largest value that a thread met. A value that is no number becomes the largest one. */
struct value_range {
  double least, most;
  bool numbers;
};

static __device__ __forceinline__ void widen_range(value_range &r, double value)
{
  if (value < r.least) r.least = value;
  if (value > r.most) r.most = value;
  if (!(value == value)) r.numbers = false;
}

static __device__ __forceinline__ void add_range(const value_range &r, unsigned long long *range)
{
  unsigned long long least = ordered(r.least), most = ordered(r.numbers ? r.most : (double)NAN);
  for (int lane = 16; lane > 0; lane /= 2) {
    least = min(least, __shfl_xor_sync(0xffffffffu, least, lane));
    most = max(most, __shfl_xor_sync(0xffffffffu, most, lane));
  }
  if ((threadIdx.x & 31) == 0 && least <= most) {
    atomicMin(&range[0], least);
    atomicMax(&range[1], most);
  }
}

template <class T, bool TOGETHER>
static __global__ void __launch_bounds__(EACH_THREADS)
    k_count_values(const __grid_constant__ system_view<T> s, const __grid_constant__ each_args a,
                   const __grid_constant__ md_value_counts c, unsigned long long *count,
                   unsigned long long *range)
{
  __shared__ unsigned table[VALUE_TABLE];
  const int64_t size = MD_VALUES_BINS + c.bins;
  const bool local = size <= VALUE_TABLE;
  const unsigned parity = progress_before(s.ctl, s.launch).parity;
  value_range met = {(double)INFINITY, -(double)INFINITY, true};
  for (int k = threadIdx.x; local && k < size; k += blockDim.x) table[k] = 0u;
  __syncthreads();
  const int quads = quads_of(s.n);
  for (int n = blockIdx.x * blockDim.x + threadIdx.x; n < quads; n += gridDim.x * blockDim.x) {
    const quad of = {QUAD * n, s.n, parity};
    double value[QUAD];
    values_of<T, TOGETHER>(s, a, c.value, of, value);
    int member[QUAD];
    members_of(a, c.group, of, member);
#pragma unroll
    for (int k = 0; k < QUAD; ++k) {
      if (member[k] < 0) continue;
      const int64_t bin = md_value_bin(&c, value[k]);
      const int64_t at = bin < 0 ? (int64_t)MD_VALUES_MISSING : MD_VALUES_BINS + bin;
      widen_range(met, value[k]);
      if (local)
        atomicAdd(&table[at], 1u);
      else
        atomicAdd(&count[at], 1ull);
    }
  }
  __syncwarp();
  add_range(met, range);
  __syncthreads();
  for (int k = threadIdx.x; local && k < size; k += blockDim.x)
    if (table[k] > 0u) atomicAdd(&count[k], (unsigned long long)table[k]);
}

template <class T>
md_status launch_count_values(const launch &l, const system_view<T> &s, const each_args &a,
                              const md_value_counts &c, unsigned long long *count, unsigned long long *range)
{
  if (s.n == 0) return MD_OK;
  const int blocks = blocks_of_quads(l, s.n);
  if (is_found_together(c.value))
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
