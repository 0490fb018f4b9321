/* Counts of distances between particles (common/sums/distances.h), for compute rdf.
 *
 *   1. A block walks through particles. Each thread looks at the neighbours of its particle, and counts them in a table
 *      in shared memory.
 *   2. At the end the block adds its table to that of the device, in 64 bits.
 *
 * A pair of owned particles counts in both orders. Where the search finds it from both sides, the one with the lower
 * index looks at it. The table has two parts, so that this needs one atomic:
 *
 *      as they are | particles, pairs with ghosts, and pairs of several pairs of types     added once
 *      pairs       | pairs of owned particles of any types                                 added twice
 *
 * In mixed precision a particle that crossed a periodic face is found from one side as itself and from the other one as
 * an image. So there all pairs are looked at from both sides.
 *
 *   k_listed_distances  takes neighbours from lists. The entries of a list are in ascending order mostly, so that a
 *                       warp skips the first half of them. Four records are under way at a time.
 *   k_plane_distances   takes them from cells in 2D, and first discards candidates by their coarse positions.
 *   k_distances         takes them from cells.
 *   k_far_distances     goes farther than the cutoff of the forces, through all cells that may hold a particle within
 *                       the cutoff, and takes the nearest image (gpu/neighbour/around.cuh).
 *
 * Trade-off: shared atomics cost less than a pass of their own to sort the pairs. A table that does not fit into shared
 * memory is counted by atomics on the device. Cost: a root in single precision and a shared atomic for each pair. Bytes
 * a particle: k_listed_distances the record and 4 for each entry of its list; k_plane_distances 20, and 4 a cell.
 */
#include "gpu/neighbour/around.cuh"
#include "gpu/neighbour/listed_pairs.cuh"
#include "gpu/neighbour/plane_pairs.cuh"
#include "gpu/sums/launches.cuh"

#include <algorithm>

/* Most numbers of a table in shared memory; and the blocks of DISTANCE_THREADS threads that are resident on a
 * multiprocessor. A table takes as much memory as it has numbers, because the rest is the cache of records. */
enum { DISTANCE_TABLE = 12288, DISTANCE_THREADS = 256, DISTANCE_BLOCKS = 4 };

/* The table of a block, and what it is added to. */
struct distance_table {
  unsigned *local; /* [size] as they are, [bins] pairs of any types; NULL: numbers are added to `sum` */
  unsigned long long *sum;
};

static __device__ __forceinline__ void count_some(const distance_table &t, int64_t k, unsigned some)
{
  if (t.local)
    atomicAdd(&t.local[k], some);
  else
    atomicAdd(&t.sum[k], (unsigned long long)some);
}

/* The numbers of the table in shared memory; 0: it does not fit there. */
static __host__ __device__ __forceinline__ int size_of_table(const distance_args &a)
{
  const int64_t size = md_distances_size(&a.distances) + (a.all_types ? a.distances.bins : 0);
  return size <= DISTANCE_TABLE ? (int)size : 0;
}

extern __shared__ unsigned numbers[];
static __device__ __forceinline__ distance_table begin_table(const distance_args &a)
{
  const int size = size_of_table(a);
  const distance_table t = {size > 0 ? numbers : nullptr, a.sum};
  for (int k = threadIdx.x; t.local && k < size; k += blockDim.x) t.local[k] = 0u;
  __syncthreads();
  return t;
}

/* Adds the table of the block to that of the device. found: the particles that this thread has counted, if there is one
 * pair of types. */
static __device__ __forceinline__ void end_table(const distance_args &a, const distance_table &t,
                                                 unsigned found)
{
  const md_distances &d = a.distances;
  const int64_t size = md_distances_size(&d);
  for (int k = 0; found > 0u && k < MD_DISTANCE_BINS; ++k) count_some(t, k, found);
  __syncthreads();
  for (int k = threadIdx.x; t.local && k < size; k += blockDim.x)
    if (t.local[k] > 0u) atomicAdd(&t.sum[k], (unsigned long long)t.local[k]);
  for (int k = threadIdx.x; t.local && a.all_types && k < d.bins; k += blockDim.x)
    if (t.local[size + k] > 0u) atomicAdd(&t.sum[MD_DISTANCE_BINS + k], 2ull * t.local[size + k]);
}

/* Adds the number of lanes of a warp for which `has` is true. All lanes call it. */
static __device__ __forceinline__ void count_lanes(const distance_table &t, int64_t k, bool has)
{
  const unsigned lanes = __ballot_sync(0xffffffffu, has);
  if ((threadIdx.x & 31) == 0 && lanes != 0) count_some(t, k, (unsigned)__popc(lanes));
}

/* Counts the particles of a warp for each pair of types. All lanes call it. type: 1 and on; 0: the lane has no particle
 * that counts. found: as in end_table(). */
static __device__ __forceinline__ void count_particles(const distance_args &a, int type,
                                                       const distance_table &t, unsigned &found)
{
  const md_distances &d = a.distances;
  if (a.all_types) {
    found += type > 0 ? 1u : 0u;
    return;
  }
  for (int m = 0; m < d.npair; ++m) {
    const int64_t first = (int64_t)m * (MD_DISTANCE_BINS + d.bins);
    const bool centre = type > 0 && md_type_pair_has(&d.pair[m], 0, type);
    const bool other = type > 0 && md_type_pair_has(&d.pair[m], 1, type);
    count_lanes(t, first + MD_DISTANCE_CENTRES, centre);
    count_lanes(t, first + MD_DISTANCE_NEIGHBOURS, other);
    count_lanes(t, first + MD_DISTANCE_BOTH, centre && other);
  }
}

/* Counts a neighbour of type `other` of a particle of type `type`. twice: in both orders. */
static __device__ __forceinline__ void count_pair(const distance_args &a, int bin, int type, int other,
                                                  bool twice, const distance_table &t)
{
  const md_distances &d = a.distances;
  if (a.all_types) {
    if (!t.local)
      atomicAdd(&t.sum[MD_DISTANCE_BINS + bin], twice ? 2ull : 1ull);
    else
      atomicAdd(&t.local[MD_DISTANCE_BINS + bin + (twice ? d.bins : 0)], 1u);
    return;
  }
  for (int m = 0; m < d.npair; ++m) {
    const int64_t k = (int64_t)m * (MD_DISTANCE_BINS + d.bins) + MD_DISTANCE_BINS + bin;
    if (md_type_pair_has(&d.pair[m], 0, type) && md_type_pair_has(&d.pair[m], 1, other)) count_some(t, k, 1u);
    if (twice && md_type_pair_has(&d.pair[m], 0, other) && md_type_pair_has(&d.pair[m], 1, type))
      count_some(t, k, 1u);
  }
}

/* Is particle or ghost j of the group? Ghosts of other ranks: only if all particles are. */
template <class T>
static __device__ __forceinline__ bool is_counted(const system_view<T> &s, const distance_args &a, int j)
{
  if (a.distances.group == MD_GROUP_ALL) return true;
  return (group_of(a.fields, j < s.n ? j : s.ghost.source[j - s.n]) & a.distances.group) != 0;
}

/* Counts candidate j with record xj, at the squared distance r2, for particle i of type `type`. */
template <class T>
static __device__ __forceinline__ void
count_candidate(const system_view<T> &s, const distance_args &a, double r2, int type, int j,
                const typename T::record &xj, bool twice, const distance_table &t)
{
  const md_distances &d = a.distances;
  const int bin = md_distance_bin(r2, d.cutoff, d.per_bin, d.bins);
  if (bin >= 0 && is_counted<T>(s, a, j)) count_pair(a, bin, type, type_of(xj) + 1, twice, t);
}

template <class T>
static __global__ void __launch_bounds__(DISTANCE_THREADS, DISTANCE_BLOCKS)
    k_distances(const __grid_constant__ system_view<T> s, const __grid_constant__ distance_args a)
{
  const distance_table t = begin_table(a);
  const typename T::record *x = present(s);
  unsigned found = 0;
  const unsigned n = (unsigned)s.n, stride = gridDim.x * blockDim.x;
  for (unsigned first = blockIdx.x * blockDim.x; first < n; first += stride) {
    const unsigned k = first + threadIdx.x;
    const int i = (int)min(k, n - 1);
    typename T::record xi = {};
    if (k < n) xi = x[i];
    const int type = k < n && is_counted<T>(s, a, i) ? type_of(xi) + 1 : 0;
    count_particles(a, type, t, found);
    if (type == 0) continue;
    for_each_in_cells<T>(s, x, i, HALVES<T>, [&](int j, const typename T::record &xj) {
      count_candidate<T>(s, a, wide_separation<T>(s.scale, xi, xj), type, j, xj, HALVES<T> && j < s.n, t);
    });
  }
  end_table(a, t, found);
}

/* ---- from lists ---- */

/* Counts those of the entries four[] of a list that are marked in `wanted`. Their bins are found roughly. The few that
 * are near the edge of a bin come last, one by one, so that there is one double root in the code. */
template <class T>
static __device__ __forceinline__ void count_four(const system_view<T> &s, const distance_args &a,
                                                  const typename T::record *x, const typename T::record &xi,
                                                  int i, int type, const int four[4], unsigned wanted,
                                                  const distance_table &t)
{
  const md_distances &d = a.distances;
  const bool halves = HALVES<T> || s.list.half;
  typename T::record xj[4];
  unsigned unsure = 0;
#pragma unroll
  for (int u = 0; u < 4; ++u) xj[u] = load_record(x + (wanted >> u & 1u ? four[u] : i));
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    if (!(wanted >> u & 1u)) continue;
    const int bin = md_distance_rough_bin(wide_separation<T>(s.scale, xi, xj[u]), d.per_bin, d.bins);
    if (bin < 0)
      unsure |= 1u << u;
    else if (bin < d.bins && is_counted<T>(s, a, four[u]))
      count_pair(a, bin, type, type_of(xj[u]) + 1, halves && four[u] < s.n, t);
  }
  for (; unsure; unsure &= unsure - 1) {
    const int u = __ffs((int)unsure) - 1, j = u == 0   ? four[0]
                                              : u == 1 ? four[1]
                                              : u == 2 ? four[2]
                                                       : four[3];
    const typename T::record one = load_record(x + j);
    count_candidate<T>(s, a, wide_separation<T>(s.scale, xi, one), type, j, one, halves && j < s.n, t);
  }
}

template <class T>
static __global__ void __launch_bounds__(DISTANCE_THREADS, DISTANCE_BLOCKS)
    k_listed_distances(const __grid_constant__ system_view<T> s, const __grid_constant__ distance_args a)
{
  const distance_table t = begin_table(a);
  const typename T::record *x = present(s);
  unsigned found = 0;
  const unsigned n = (unsigned)s.n, stride = gridDim.x * blockDim.x;
  for (unsigned first = blockIdx.x * blockDim.x; first < n; first += stride) {
    const unsigned k = first + threadIdx.x;
    const int i = (int)min(k, n - 1), block = i >> 5;
    const typename T::record xi = load_record(x + i);
    const int type = k < n && is_counted<T>(s, a, i) ? type_of(xi) + 1 : 0;
    count_particles(a, type, t, found);
    if ((k & ~31u) >= n || !__any_sync(0xffffffffu, type > 0)) continue;
    const int4 *list = s.list.neighbours + (int64_t)block * s.list.stride * 32 + (k & 31);
    const int rows = s.list.rows[block];
    for (int r = 0; r < rows; ++r) {
      const int4 entries = __ldcs(list + (int64_t)r * 32);
      const int four[4] = {entries.x, entries.y, entries.z, entries.w};
      const unsigned wanted = type > 0 ? wanted_entries<T>(i, four) : 0;
      if (__any_sync(0xffffffffu, wanted != 0)) count_four<T>(s, a, x, xi, i, type, four, wanted, t);
    }
  }
  end_table(a, t, found);
}

/* ---- from cells in two dimensions ---- */

template <class T>
static __global__ void __launch_bounds__(DISTANCE_THREADS, DISTANCE_BLOCKS)
    k_plane_distances(const __grid_constant__ system_view<T> s, const __grid_constant__ distance_args a)
{
  const distance_table t = begin_table(a);
  unsigned found = 0;
  for_each_plane_pair<T>(
      s, [&](int i) { return is_counted<T>(s, a, i); },
      [&](bool counts) { count_particles(a, counts ? 1 : 0, t, found); },
      [&](const typename T::record &xi, int j, const typename T::record &xj, bool twice) {
        count_candidate<T>(s, a, wide_separation<T>(s.scale, xi, xj), 1, j, xj, twice, t);
      },
      [] {});
  end_table(a, t, found);
}

/* ---- beyond the cutoff of the forces ---- */

template <class T>
static __global__ void __launch_bounds__(DISTANCE_THREADS)
    k_far_distances(const __grid_constant__ system_view<T> s, const __grid_constant__ distance_args a)
{
  const md_distances &d = a.distances;
  const distance_table t = begin_table(a);
  const unsigned parity = progress_before(s.ctl, s.launch).parity;
  unsigned found = 0;
  const unsigned n = (unsigned)s.n, stride = gridDim.x * blockDim.x;
  for (unsigned first = blockIdx.x * blockDim.x; first < n; first += stride) {
    const unsigned k = first + threadIdx.x;
    const int i = (int)min(k, n - 1);
    typename T::particle xi = {};
    if (k < n) xi = load_particle<T>(s, parity, i);
    const int type = k < n && is_counted<T>(s, a, i) ? type_of(xi) + 1 : 0;
    count_particles(a, type, t, found);
    if (type == 0) continue;
    const cells_around around = find_cells_around<T>(s, a.reach, xi);
    for_each_around<T>(s, around, i + 1, [&](int j) {
      double delta[3];
      if (!is_counted<T>(s, a, j)) return;
      const typename T::particle xj = load_particle<T>(s, parity, j);
      const double r2 = nearest_separation<T>(s, around.wraps, xi, xj, delta);
      const int bin = md_distance_bin(r2, d.cutoff, d.per_bin, d.bins);
      if (bin >= 0) count_pair(a, bin, type, type_of(xj) + 1, true, t);
    });
  }
  end_table(a, t, found);
}

template <class T>
md_status launch_distances(const launch &l, int source, const system_view<T> &s, const distance_args &a)
{
  const int blocks = std::min(blocks_for(s.n, DISTANCE_THREADS), 2 * DISTANCE_BLOCKS * l.processors);
  const size_t bytes = (size_t)size_of_table(a) * sizeof(unsigned);
  if (s.n == 0) return MD_OK;
  if (a.far)
    k_far_distances<T><<<blocks, DISTANCE_THREADS, bytes, l.stream>>>(s, a);
  else if (source == FROM_CELLS) {
    if constexpr (T::HAS_COARSE)
      k_plane_distances<T><<<blocks, DISTANCE_THREADS, bytes, l.stream>>>(s, a);
    else
      k_distances<T><<<blocks, DISTANCE_THREADS, bytes, l.stream>>>(s, a);
  }
  if constexpr (T::TAGGED)
    if (!a.far && source == FROM_LIST)
      k_listed_distances<T><<<blocks, DISTANCE_THREADS, bytes, l.stream>>>(s, a);
  MD_LAUNCHED("k_distances");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_distances<T>(const launch &, int, const system_view<T> &, const distance_args &);
MD_LAYOUTS(INSTANCE)
