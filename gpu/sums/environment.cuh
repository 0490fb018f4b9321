/* Values of particles that their neighbours give (common/sums/environment.h), for computes coord/atom, hexorder/atom,
 * orientorder/atom, centro/atom, cna/atom and cluster/atom. Neighbours come from the cells around a particle
 * (gpu/neighbour/around.cuh).
 *
 *   k_coordination  counts neighbours.
 *   k_hexatic       keeps the nearest neighbours in order, in registers, and sums over them. Ids are only read for two
 *                   neighbours at the same distance.
 *   k_centro        takes the nearest neighbours in the same way, k_crystal all of them; both put the ways to them into
 *                   the memory of the thread.
 *   k_order         puts the directions of the nearest neighbours there, and makes one spherical harmonic of all of
 *                   them after the other (common/sums/bond_order.h).
 *   Clusters        are trees of particles. A root stands for its cluster, and no parent has a larger index:
 *       k_plant         each particle is a tree of its own.
 *       k_join          for each pair, the root of one tree gets that of the other one as its parent, by atomicCAS. On
 *                       its way to a root a thread makes the way shorter: each particle gets the parent of its parent.
 *       k_least         each root gets the least id of its tree. A thread looks first, because few ids are smaller.
 *       k_cluster       each particle gets that id.
 *
 * GHOSTS: neighbours behind a face are ghosts, and it is right after a rebin. Else there is one rank, and cells go on
 * behind periodic faces.
 *
 * On several ranks a tree has particles of one rank, and a cluster may have trees of several ranks. These come to the
 * least id of all by rounds, until no id changes. In a round each ghost gets the least id of its tree at its owner
 * (k_labels, and an exchange). A tree next to a ghost takes that id if it is smaller (k_meet).
 *
 * Values lie by original index, so that a sort of particles does not move them, and the host copies them as they are.
 *
 * Trade-off: the order of joins is any, and trees differ with it, but not which particles they have. Values by original
 * index cost a memory access of 32 bytes a particle, and another one when they are used. Cost: a record for each
 * candidate, mostly from the cache; clusters: 12 bytes of scratch a particle, some 60 bytes read and written, and an
 * atomic for each particle that is no root at the end.
 * References: Jaiganesh and Burtscher, HPDC 2018 (ECL-CC); Jayanti and Tarjan, PODC 2016.
 */
#ifndef MD_GPU_SUMS_ENVIRONMENT_CUH
#define MD_GPU_SUMS_ENVIRONMENT_CUH

#include "gpu/neighbour/around.cuh"
#include "gpu/sums/launches.cuh"

enum { ENVIRONMENT_THREADS = 256 };

/* Particle i of the groups of *a, and its position. Returns false if there is none. */
template <class T>
static __device__ __forceinline__ bool find_centre(const system_view<T> &s, const environment_args &a,
                                                   unsigned parity, int i, typename T::particle &x)
{
  if (i >= s.n) return false;
  x = load_particle<T>(s, parity, i);
  return (group_of(a.fields, i) & a.what.group) != 0;
}

/* The local index of a particle, or of the source of a ghost that is an image. */
template <class T> static __device__ __forceinline__ int source_of(const system_view<T> &s, int j)
{
  return j < s.n ? j : s.ghost.source[j - s.n];
}

/* Is particle or ghost j of the group of the neighbours? */
template <class T, bool GHOSTS>
static __device__ __forceinline__ bool is_of_others(const system_view<T> &s, const environment_args &a, int j)
{
  if (a.what.other == MD_GROUP_ALL) return true;
  if (!GHOSTS) return (group_of(a.fields, j) & a.what.other) != 0;
  const uint32_t groups = a.near_group ? (uint32_t)a.near_group[j] : group_of(a.fields, source_of<T>(s, j));
  return (groups & a.what.other) != 0;
}

/* Calls f(j, particle j, delta, squared distance) for the neighbours with an index of at least `from`. delta: i - j. */
template <class T, bool GHOSTS, class F>
static __device__ __forceinline__ void
for_each_neighbour(const system_view<T> &s, const environment_args &a, unsigned parity,
                   const cells_near<GHOSTS> &around, int i, int from, const typename T::particle &xi, F f)
{
  const double cutoff2 = a.what.cutoff * a.what.cutoff;
  for_each_around<T>(s, around, from, [&](int j) {
    double delta[3];
    const typename T::particle xj = load_any<T, GHOSTS>(s, parity, j);
    const double r2 = nearest_separation<T>(s, around.wraps, xi, xj, delta);
    if (r2 >= cutoff2 || j == i || (GHOSTS && own_image<T>(s, i, j))) return;
    if (is_of_others<T, GHOSTS>(s, a, j)) f(j, xj, delta, r2);
  });
}

static __device__ __forceinline__ double *values_of(const environment_args &a, int i)
{
  return a.value + (int64_t)origin_of(a.fields, i) * a.what.columns;
}

template <class T, bool GHOSTS>
static __global__ void __launch_bounds__(ENVIRONMENT_THREADS)
    k_coordination(const __grid_constant__ system_view<T> s, const __grid_constant__ environment_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned parity = progress_before(s.ctl, s.launch).parity;
  int number[MD_ENVIRONMENT_COLUMNS] = {};
  typename T::particle xi;
  if (find_centre<T>(s, a, parity, i, xi)) {
    const cells_near<GHOSTS> around = find_cells_near<T, GHOSTS>(s, a.reach, xi);
    for_each_neighbour<T, GHOSTS>(
        s, a, parity, around, i, 0, xi, [&](int, const typename T::particle &xj, const double *, double) {
          const int type = type_shown(a.fields, type_of(xj));
#pragma unroll
          for (int k = 0; k < MD_ENVIRONMENT_COLUMNS; ++k)
            if (k < a.what.columns && type >= a.what.first[k] && type <= a.what.last[k]) ++number[k];
        });
  }
  if (i >= s.n) return;
  double *value = values_of(a, i);
#pragma unroll
  for (int k = 0; k < MD_ENVIRONMENT_COLUMNS; ++k)
    if (k < a.what.columns) value[k] = (double)number[k];
}

/* ---- the nearest neighbours ---- */

/* The MOST nearest neighbours found so far, in order; infinitely far: none. */
template <int MOST> struct nearest {
  double r2[MOST];
  int j[MOST];
  int found; /* all neighbours, also those that are not among the nearest */
};

/* The id of a particle or ghost, or its original index where that has the order of ids. */
template <class T, bool GHOSTS>
static __device__ __forceinline__ int64_t rank_of(const system_view<T> &s, const environment_args &a, int j)
{
  if (GHOSTS && a.near_id) return a.near_id[j];
  const int origin = origin_of(a.fields, GHOSTS ? source_of<T>(s, j) : j);
  return a.id ? a.id[origin] : origin;
}

/* Indices of the list are constants, which keep it in registers. */
template <class T, bool GHOSTS, int MOST>
static __device__ __forceinline__ void add(const system_view<T> &s, const environment_args &a,
                                           nearest<MOST> &list, int j, double r2)
{
  ++list.found;
  if (r2 > list.r2[MOST - 1]) return;
#pragma unroll
  for (int k = 0; k < MOST; ++k) {
    const double other = list.r2[k];
    if (r2 < other || (r2 == other && rank_of<T, GHOSTS>(s, a, j) < rank_of<T, GHOSTS>(s, a, list.j[k]))) {
      const int moved = list.j[k];
      list.r2[k] = r2;
      list.j[k] = j;
      r2 = other;
      j = moved;
    }
  }
}

template <class T, bool GHOSTS, int MOST>
static __device__ __forceinline__ nearest<MOST>
find_nearest(const system_view<T> &s, const environment_args &a, unsigned parity,
             const cells_near<GHOSTS> &around, int i, const typename T::particle &xi)
{
  nearest<MOST> list;
  list.found = 0;
#pragma unroll
  for (int k = 0; k < MOST; ++k) {
    list.r2[k] = (double)INFINITY;
    list.j[k] = i;
  }
  for_each_neighbour<T, GHOSTS>(s, a, parity, around, i, 0, xi,
                                [&](int j, const typename T::particle &, const double *, double r2) {
                                  add<T, GHOSTS, MOST>(s, a, list, j, r2);
                                });
  return list;
}

template <class T, bool GHOSTS, int MOST>
static __global__ void __launch_bounds__(ENVIRONMENT_THREADS)
    k_hexatic(const __grid_constant__ system_view<T> s, const __grid_constant__ environment_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned parity = progress_before(s.ctl, s.launch).parity;
  const int most = a.what.most > 0 ? (int)a.what.most : MOST;
  double sum[2] = {0.0, 0.0};
  typename T::particle xi;
  if (find_centre<T>(s, a, parity, i, xi)) {
    const cells_near<GHOSTS> around = find_cells_near<T, GHOSTS>(s, a.reach, xi);
    const nearest<MOST> list = find_nearest<T, GHOSTS, MOST>(s, a, parity, around, i, xi);
    const int n = min(list.found, most);
    if (a.what.most == 0 && list.found > MOST) *a.full = 1;
#pragma unroll
    for (int k = 0; k < MOST; ++k) {
      if (k >= n) break;
      double delta[3];
      nearest_separation<T>(s, around.wraps, xi, load_any<T, GHOSTS>(s, parity, list.j[k]), delta);
#pragma unroll
      for (int d = 0; d < 3; ++d) delta[d] = -delta[d];
      md_hexatic_add(delta, a.what.degree, sum);
    }
    md_hexatic_end(n, a.what.most, sum);
  }
  if (i >= s.n) return;
  double *value = values_of(a, i);
  value[0] = sum[0];
  value[1] = sum[1];
}

/* The ways to neighbours are those of the list of the host: the negative of xi - xj. */
template <class T, bool GHOSTS, int MOST>
static __global__ void __launch_bounds__(ENVIRONMENT_THREADS)
    k_centro(const __grid_constant__ system_view<T> s, const __grid_constant__ environment_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = (int)a.what.most;
  const unsigned parity = progress_before(s.ctl, s.launch).parity;
  double way[MOST][3], value = 0.0;
  typename T::particle xi;
  if (find_centre<T>(s, a, parity, i, xi)) {
    const cells_near<GHOSTS> around = find_cells_near<T, GHOSTS>(s, a.reach, xi);
    const nearest<MOST> list = find_nearest<T, GHOSTS, MOST>(s, a, parity, around, i, xi);
#pragma unroll
    for (int k = 0; k < MOST; ++k) {
      nearest_separation<T>(s, around.wraps, xi, load_any<T, GHOSTS>(s, parity, list.j[k]), way[k]);
#pragma unroll
      for (int d = 0; d < 3; ++d) way[k][d] = -way[k][d];
    }
    if (list.found >= n) value = md_centro(n, way);
  }
  if (i < s.n) *values_of(a, i) = value;
}

/* The usual twelve neighbours and degrees up to 12 take less memory of a thread than the most, MOST and DEGREE. */
template <class T, bool GHOSTS, int MOST, int DEGREE>
static __global__ void __launch_bounds__(ENVIRONMENT_THREADS)
    k_order(const __grid_constant__ system_view<T> s, const __grid_constant__ environment_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned parity = progress_before(s.ctl, s.launch).parity;
  double direction[MOST][3];
  md_complex power[MOST], q[DEGREE + 1];
  int n = 0;
  typename T::particle xi;
  if (find_centre<T>(s, a, parity, i, xi)) {
    const cells_near<GHOSTS> around = find_cells_near<T, GHOSTS>(s, a.reach, xi);
    const nearest<MOST> list = find_nearest<T, GHOSTS, MOST>(s, a, parity, around, i, xi);
    if (a.what.most == 0 && list.found > MOST) *a.full = 1;
    n = list.found < (int)a.what.most ? 0 : min(list.found, a.what.most > 0 ? (int)a.what.most : MOST);
#pragma unroll
    for (int k = 0; k < MOST; ++k) {
      double delta[3];
      const double r2 =
          nearest_separation<T>(s, around.wraps, xi, load_any<T, GHOSTS>(s, parity, list.j[k]), delta);
#pragma unroll
      for (int d = 0; d < 3; ++d) delta[d] = -delta[d];
      md_order_direction(delta, r2, direction[k]);
    }
  }
  if (i >= s.n) return;
  double *value = values_of(a, i);
  for (int k = 0; k < a.what.columns; ++k) value[k] = 0.0;
  for (int k = 0; k < a.order->ndegree && n > 0; ++k) {
    const int l = a.order->degree[k];
    for (int j = 0; j < n; ++j) power[j] = md_complex{1.0, 0.0};
    for (int m = 0; m <= l; ++m) {
      const md_complex sum = md_order_sum(a.order, l, m, n, direction, power);
      q[m] = md_complex{sum.re / (double)n, sum.im / (double)n};
    }
    md_order_values(a.order, k, q, value);
  }
}

/* The order of neighbours does not matter. One more than any crystal has says that there are too many. */
template <class T, bool GHOSTS>
static __global__ void __launch_bounds__(ENVIRONMENT_THREADS)
    k_crystal(const __grid_constant__ system_view<T> s, const __grid_constant__ environment_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned parity = progress_before(s.ctl, s.launch).parity;
  double way[MD_CRYSTAL_NEIGHBOURS][3], value = 0.0;
  int n = 0;
  typename T::particle xi;
  if (find_centre<T>(s, a, parity, i, xi)) {
    const cells_near<GHOSTS> around = find_cells_near<T, GHOSTS>(s, a.reach, xi);
    for_each_neighbour<T, GHOSTS>(s, a, parity, around, i, 0, xi,
                                  [&](int, const typename T::particle &, const double *delta, double) {
                                    if (n < MD_CRYSTAL_NEIGHBOURS)
                                      for (int d = 0; d < 3; ++d) way[n][d] = -delta[d];
                                    ++n;
                                  });
    value = n <= MD_CRYSTAL_NEIGHBOURS ? md_crystal(n, way, a.what.cutoff * a.what.cutoff) : MD_CRYSTAL_NONE;
  }
  if (i < s.n) *values_of(a, i) = value;
}

/* ---- clusters ---- */

/* Other threads change what is read here. */
static __device__ __forceinline__ int parent_now(const int *parent, int i)
{
  return *(const volatile int *)&parent[i];
}

/* The root of the tree of a particle. The way there gets shorter. */
static __device__ __forceinline__ int root_of(int *parent, int i)
{
  for (;;) {
    const int next = parent_now(parent, i);
    if (next == i) return i;
    const int farther = parent_now(parent, next);
    if (farther == next) return next;
    *(volatile int *)&parent[i] = farther;
    i = farther;
  }
}

/* Joins two trees. A root gets a parent only while it is a root, and only one with a smaller index. */
static __device__ __forceinline__ void join(int *parent, int one, int other)
{
  for (;;) {
    one = root_of(parent, one);
    other = root_of(parent, other);
    if (one == other) return;
    const int high = max(one, other), low = min(one, other);
    if (atomicCAS(&parent[high], high, low) == high) return;
  }
}

static __global__ void __launch_bounds__(ENVIRONMENT_THREADS)
    k_plant(int n, int *parent, unsigned long long *least)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  parent[i] = i;
  least[i] = ~0ull;
}

template <class T, bool GHOSTS>
static __global__ void __launch_bounds__(ENVIRONMENT_THREADS)
    k_join(const __grid_constant__ system_view<T> s, const __grid_constant__ environment_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned parity = progress_before(s.ctl, s.launch).parity;
  typename T::particle xi;
  if (!find_centre<T>(s, a, parity, i, xi)) return;
  const cells_near<GHOSTS> around = find_cells_near<T, GHOSTS>(s, a.reach, xi);
  for_each_neighbour<T, GHOSTS>(s, a, parity, around, i, i + 1, xi,
                                [&](int j, const typename T::particle &, const double *, double) {
                                  const int other = GHOSTS ? source_of<T>(s, j) : j;
                                  if (other >= 0) join(a.parent, i, other);
                                });
}

static __global__ void __launch_bounds__(ENVIRONMENT_THREADS)
    k_least(int n, const __grid_constant__ environment_args a)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long *least = &a.least[root_of(a.parent, i)];
  const unsigned long long id = (unsigned long long)a.id[origin_of(a.fields, i)];
  if (id < *(volatile unsigned long long *)least) atomicMin(least, id);
}

/* ---- launches ---- */

template <class T, bool GHOSTS>
static md_status launch_trees(const launch &l, const system_view<T> &s, const environment_args &a)
{
  const int blocks = blocks_for(s.n, ENVIRONMENT_THREADS);
  k_plant<<<blocks, ENVIRONMENT_THREADS, 0, l.stream>>>(s.n, a.parent, a.least);
  MD_LAUNCHED("k_plant");
  k_join<T, GHOSTS><<<blocks, ENVIRONMENT_THREADS, 0, l.stream>>>(s, a);
  MD_LAUNCHED("k_join");
  k_least<<<blocks, ENVIRONMENT_THREADS, 0, l.stream>>>(s.n, a);
  MD_LAUNCHED("k_least");
  return MD_OK;
}

template <class T, bool GHOSTS>
static void launch_order(const launch &l, const system_view<T> &s, const environment_args &a)
{
  const int blocks = blocks_for(s.n, ENVIRONMENT_THREADS);
  if (a.what.most > 0 && a.what.most <= 12 && a.what.order->largest <= 12)
    k_order<T, GHOSTS, 12, 12><<<blocks, ENVIRONMENT_THREADS, 0, l.stream>>>(s, a);
  else
    k_order<T, GHOSTS, MD_ENVIRONMENT_NEAREST, MD_ORDER_MOST>
        <<<blocks, ENVIRONMENT_THREADS, 0, l.stream>>>(s, a);
}

template <class T, bool GHOSTS>
md_status launch_environment(const launch &l, const system_view<T> &s, const environment_args &a)
{
  const int blocks = blocks_for(s.n, ENVIRONMENT_THREADS);
  if (s.n == 0) return MD_OK;
  switch (a.what.kind) {
  case MD_ENVIRONMENT_COORDINATION:
    k_coordination<T, GHOSTS><<<blocks, ENVIRONMENT_THREADS, 0, l.stream>>>(s, a);
    break;
  case MD_ENVIRONMENT_HEXATIC:
    if (a.what.most > 0 && a.what.most <= 6)
      k_hexatic<T, GHOSTS, 6><<<blocks, ENVIRONMENT_THREADS, 0, l.stream>>>(s, a);
    else
      k_hexatic<T, GHOSTS, MD_ENVIRONMENT_NEAREST><<<blocks, ENVIRONMENT_THREADS, 0, l.stream>>>(s, a);
    break;
  case MD_ENVIRONMENT_CLUSTER: return launch_trees<T, GHOSTS>(l, s, a);
  case MD_ENVIRONMENT_CENTRO:
    k_centro<T, GHOSTS, MD_ENVIRONMENT_NEAREST><<<blocks, ENVIRONMENT_THREADS, 0, l.stream>>>(s, a);
    break;
  case MD_ENVIRONMENT_ORDER:
    if constexpr (T::DIM == 3) launch_order<T, GHOSTS>(l, s, a);
    break;
  case MD_ENVIRONMENT_CRYSTAL:
    k_crystal<T, GHOSTS><<<blocks, ENVIRONMENT_THREADS, 0, l.stream>>>(s, a);
    break;
  }
  MD_LAUNCHED("the kernel of an environment");
  return MD_OK;
}

#endif
