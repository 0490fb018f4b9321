/* Counts of distances between particles (common/sums/distances.h), for compute rdf.
 *
 *   1. A block walks through particles. Each thread looks at the neighbours of its particle, and counts them in a table
 *      in shared memory.
 *   2. At the end the block adds its table to that of the device, in 64 bits.
 *
 * k_distances takes the candidates of cells or lists, which hold all pairs within the cutoff of the forces.
 * k_far_distances goes farther: it visits all cells that may hold a particle within the cutoff, and takes the nearest
 * image, without ghosts. A particle may have left its cell since the rebin, so that cells count as that much wider. The
 * cells of a row are one range of particles, or two if the row goes on behind a periodic face.
 *
 * Trade-off: shared atomics cost less than a pass of their own to sort the pairs. A table that does not fit into shared
 * memory is counted by atomics on the device. Cost: a pass over all pairs from both sides, a root in single precision
 * and a shared atomic for each.
 */
#include "gpu/neighbour/for_each.cuh"
#include "gpu/particle/launch.cuh"

#include <algorithm>

/* Numbers of a table in shared memory. */
enum { DISTANCE_TABLE = 4096, DISTANCE_THREADS = 256 };

/* The table of a block, and what it is added to. */
struct distance_table {
  unsigned *local; /* NULL: numbers are added to `sum` */
  unsigned long long *sum;
};

static __device__ __forceinline__ void count_one(const distance_table &t, int64_t k)
{
  if (t.local)
    atomicAdd(&t.local[k], 1u);
  else
    atomicAdd(&t.sum[k], 1ull);
}

static __device__ __forceinline__ void begin_table(const distance_table &t, int64_t size)
{
  for (int k = threadIdx.x; t.local && k < size; k += blockDim.x) t.local[k] = 0u;
  __syncthreads();
}

static __device__ __forceinline__ void end_table(const distance_table &t, int64_t size)
{
  __syncthreads();
  for (int k = threadIdx.x; t.local && k < size; k += blockDim.x)
    if (t.local[k] > 0u) atomicAdd(&t.sum[k], (unsigned long long)t.local[k]);
}

/* Adds the number of lanes of a warp for which `has` is true. All lanes call it. */
static __device__ __forceinline__ void count_lanes(const distance_table &t, int64_t k, bool has)
{
  const unsigned lanes = __ballot_sync(0xffffffffu, has);
  if ((threadIdx.x & 31) != 0 || lanes == 0) return;
  if (t.local)
    atomicAdd(&t.local[k], (unsigned)__popc(lanes));
  else
    atomicAdd(&t.sum[k], (unsigned long long)__popc(lanes));
}

/* Counts the particles of a warp for each pair of types. All lanes call it. type: 1 and on; 0: the lane has no particle
 * that counts. */
static __device__ __forceinline__ void count_particles(const md_distances &d, int type,
                                                       const distance_table &t)
{
  for (int m = 0; m < d.npair; ++m) {
    const int64_t first = (int64_t)m * (MD_DISTANCE_BINS + d.bins);
    const bool centre = type > 0 && md_type_pair_has(&d.pair[m], 0, type);
    const bool other = type > 0 && md_type_pair_has(&d.pair[m], 1, type);
    count_lanes(t, first + MD_DISTANCE_CENTRES, centre);
    count_lanes(t, first + MD_DISTANCE_NEIGHBOURS, other);
    count_lanes(t, first + MD_DISTANCE_BOTH, centre && other);
  }
}

/* Counts a neighbour of type `other` of a particle of type `type`. all_types: there is one pair of types, of all. */
static __device__ __forceinline__ void count_pair(const md_distances &d, bool all_types, int bin, int type,
                                                  int other, const distance_table &t)
{
  if (all_types) {
    count_one(t, MD_DISTANCE_BINS + bin);
    return;
  }
  for (int m = 0; m < d.npair; ++m)
    if (md_type_pair_has(&d.pair[m], 0, type) && md_type_pair_has(&d.pair[m], 1, other))
      count_one(t, (int64_t)m * (MD_DISTANCE_BINS + d.bins) + MD_DISTANCE_BINS + bin);
}

/* Is particle or ghost j of the group? Ghosts of other ranks: only if all particles are. */
template <class T>
static __device__ __forceinline__ bool is_counted(const system_view<T> &s, const distance_args &a, int j)
{
  if (a.distances.group == MD_GROUP_ALL) return true;
  return (group_of(a.fields, j < s.n ? j : s.ghost.source[j - s.n]) & a.distances.group) != 0;
}

template <class T, int SOURCE>
static __global__ void __launch_bounds__(DISTANCE_THREADS)
    k_distances(const __grid_constant__ system_view<T> s, const __grid_constant__ distance_args a)
{
  __shared__ unsigned table[DISTANCE_TABLE];
  const md_distances &d = a.distances;
  const int64_t size = md_distances_size(&d);
  const distance_table t = {size <= DISTANCE_TABLE ? table : nullptr, a.sum};
  const typename T::record *x = present(s);
  begin_table(t, size);
  for (int first = blockIdx.x * blockDim.x; first < s.n; first += gridDim.x * blockDim.x) {
    const int i = first + threadIdx.x;
    typename T::record xi = {};
    if (i < s.n) xi = x[i];
    const int type = i < s.n && is_counted<T>(s, a, i) ? type_of(xi) + 1 : 0;
    count_particles(d, type, t);
    if (type == 0) continue;
    for_each_candidate<T, SOURCE>(s, x, i, false, [&](int j, const typename T::record &xj) {
      const int bin = md_distance_bin(wide_separation<T>(s.scale, xi, xj), d.cutoff, d.per_bin, d.bins);
      if (bin < 0 || !is_counted<T>(s, a, j)) return;
      count_pair(d, a.all_types, bin, type, type_of(xj) + 1, t);
      /* A half list has each pair of owned particles only once. */
      if (SOURCE == FROM_LIST && s.list.half && j < s.n)
        count_pair(d, a.all_types, bin, type_of(xj) + 1, type, t);
    });
  }
  end_table(t, size);
}

/* The square of the distance of two particles at the nearest image. */
template <class T>
static __device__ __forceinline__ double
nearest_separation(const system_view<T> &s, const typename T::particle &a, const typename T::particle &b)
{
  double r2 = 0.0, delta[3];
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) {
    if constexpr (T::MIXED)
      delta[d] = wide_delta<T>(s.scale, d, a, b);
    else
      delta[d] = a.x[d] - b.x[d];
  }
  if constexpr (!T::MIXED) md_lattice_image(T::DIM, s.box.periodic, s.box.length, s.box.offset, delta);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) r2 = fma(delta[d], delta[d], r2);
  return r2;
}

/* The own cells [first, first + n) along axis d that are within `reach` cells of cell c, without the border; on a
 * periodic axis modulo their number. */
template <class T>
static __device__ __forceinline__ void cells_around(const system_view<T> &s, int d, int c, int reach,
                                                    int &first, int &n)
{
  const int own = s.grid.count[d] - 2 * s.grid.border[d];
  first = c - s.grid.border[d] - reach;
  n = 2 * reach + 1;
  if (s.box.periodic[d] && n < own) {
    first = first < 0 ? first + own : first;
    return;
  }
  const int last = s.box.periodic[d] ? own : min(first + n, own);
  first = s.box.periodic[d] ? 0 : max(first, 0);
  n = last - first;
}

/* Calls f(j) for the other particles in `cells` cells of a row from `first` on. */
template <class F>
static __device__ __forceinline__ void for_each_in_row(const int *start, int first, int cells, int i, F f)
{
  int begin, end;
  cell_range(start, first, cells, begin, end);
  for (int j = begin; j < end; ++j)
    if (j != i) f(j);
}

/* Calls f(j) for the other particles in the cells around particle i, which is at `xi`. */
template <class T, class F>
static __device__ __forceinline__ void for_each_far(const system_view<T> &s, const int reach[3], int i,
                                                    const typename T::particle &xi, F f)
{
  int c[3], first[3] = {0, 0, 0}, n[3] = {1, 1, 1}, own[3] = {1, 1, 1}, at[3];
  cell_at<T>(s, xi, c);
#pragma unroll
  for (int k = 0; k < T::DIM; ++k) {
    cells_around<T>(s, k, c[k], reach[k], first[k], n[k]);
    own[k] = s.grid.count[k] - 2 * s.grid.border[k];
  }
  const int before = min(n[0], own[0] - first[0]), behind = n[0] - before;
  at[0] = s.grid.border[0];
  for (int z = 0; z < n[2]; ++z)
    for (int y = 0; y < n[1]; ++y) {
      const int row[3] = {0, first[1] + y, first[2] + z};
#pragma unroll
      for (int k = 1; k < 3; ++k)
        at[k] = (row[k] < own[k] ? row[k] : row[k] - own[k]) + (k < T::DIM ? s.grid.border[k] : 0);
      const int cell = cell_number<T::DIM>(s.grid, at);
      for_each_in_row(s.grid.start, cell + first[0], before, i, f);
      if (behind > 0) for_each_in_row(s.grid.start, cell, behind, i, f);
    }
}

template <class T>
static __global__ void __launch_bounds__(DISTANCE_THREADS)
    k_far_distances(const __grid_constant__ system_view<T> s, const __grid_constant__ distance_args a)
{
  __shared__ unsigned table[DISTANCE_TABLE];
  const md_distances &d = a.distances;
  const int64_t size = md_distances_size(&d);
  const distance_table t = {size <= DISTANCE_TABLE ? table : nullptr, a.sum};
  begin_table(t, size);
  for (int first = blockIdx.x * blockDim.x; first < s.n; first += gridDim.x * blockDim.x) {
    const int i = first + threadIdx.x;
    typename T::particle xi = {};
    if (i < s.n) xi = present_particle<T>(s, i);
    const int type = i < s.n && is_counted<T>(s, a, i) ? type_of(xi) + 1 : 0;
    count_particles(d, type, t);
    if (type == 0) continue;
    for_each_far<T>(s, a.reach, i, xi, [&](int j) {
      if (!is_counted<T>(s, a, j)) return;
      const typename T::particle xj = present_particle<T>(s, j);
      const int bin = md_distance_bin(nearest_separation<T>(s, xi, xj), d.cutoff, d.per_bin, d.bins);
      if (bin >= 0) count_pair(d, a.all_types, bin, type, type_of(xj) + 1, t);
    });
  }
  end_table(t, size);
}

template <class T>
md_status launch_distances(const launch &l, int source, const system_view<T> &s, const distance_args &a)
{
  const int blocks = std::min(blocks_for(s.n, DISTANCE_THREADS), 8 * l.processors);
  if (a.far)
    k_far_distances<T><<<blocks, DISTANCE_THREADS, 0, l.stream>>>(s, a);
  else if (source == FROM_CELLS)
    k_distances<T, FROM_CELLS><<<blocks, DISTANCE_THREADS, 0, l.stream>>>(s, a);
  if constexpr (T::TAGGED)
    if (!a.far && source == FROM_LIST)
      k_distances<T, FROM_LIST><<<blocks, DISTANCE_THREADS, 0, l.stream>>>(s, a);
  MD_LAUNCHED("k_distances");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_distances<T>(const launch &, int, const system_view<T> &, const distance_args &);
MD_LAYOUTS(INSTANCE)
