/* The naive algorithm on the GPU: every particle looks at every other particle, at its minimum image. Forces and
 * measurements.
 *
 * Positions pass through shared memory one tile at a time. A tile is TILE consecutive particles, and a block of TILE
 * threads sums the impulses on TILE particles:
 *
 *   1. Each thread copies one position of the tile into shared memory.
 *   2. Each thread evaluates the pairs of its own particle with all particles of the tile.
 *   3. The block goes on with the next tile.
 *
 * Trade-off: there are no cells, no lists and no ghosts. So this kernel can check the others, because it shares nothing
 * with them but the formulas. But its cost grows with the square of n.
 * Cost: n^2 pair distances a step, about 10^12 a second on an H100.
 */
#include "gpu/output/launches.cuh"
#include "gpu/output/measure.cuh"
#include "gpu/step/formulas.cuh"
#include "gpu/step/launches.cuh"

constexpr int TILE = 128;

/* Calls f(j, record) for every particle j except i. All threads of a block call it together. */
template <class T, class F>
static __device__ __forceinline__ void for_each_particle(const system_view<T> &s, const typename T::record *x,
                                                         int i, F f)
{
  __shared__ typename T::record tile[TILE];
  for (int base = 0; base < s.n; base += TILE) {
    __syncthreads();
    if (base + (int)threadIdx.x < s.n) tile[threadIdx.x] = x[base + threadIdx.x];
    __syncthreads();
    const int count = min(TILE, s.n - base);
    for (int t = 0; t < count; ++t)
      if (base + t != i) f(base + t, tile[t]);
  }
}

/* The difference a - b at the minimum image in delta[]. Returns its square. */
template <class T>
static __device__ __forceinline__ double nearest_image(const system_view<T> &s, const typename T::record &a,
                                                       const typename T::record &b, double delta[3])
{
  double r2 = 0.0;
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) delta[d] = a.x[d] - b.x[d];
  md_lattice_image(T::DIM, s.box.periodic, s.box.length, s.box.offset, delta);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) r2 = fma(delta[d], delta[d], r2);
  return r2;
}

template <class T, int STYLE>
static __global__ void __launch_bounds__(TILE)
    k_force_all(const __grid_constant__ system_view<T> s, component_arrays<double> impulse, bool step)
{
  if (step && idle(progress_before(s.ctl, s.launch))) return;
  if (s.n == 0) return;
  const typename T::record *x = present(s);
  const int i = blockIdx.x * TILE + threadIdx.x;
  const typename T::record xi = x[min(i, s.n - 1)];
  int64_t sum[3] = {0, 0, 0};
  bool apart = true;
  for_each_particle<T>(s, x, i, [&](int, const typename T::record &xj) {
    double delta[3];
    const double r2 = nearest_image<T>(s, xi, xj, delta);
    const int pair = pair_of<T>(s, xi, xj);
    const double *k = s.pair.table + pair * MD_PAIR_K;
    if (!(r2 < k[0])) return;
    if (r2 < s.pair.overlap2[pair]) {
      apart = false;
      return;
    }
    const double f = force_of<STYLE>(r2, k);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) sum[d] += (int64_t)md_round_product(f, delta[d]);
  });
  if (i >= s.n) return;
  if (!apart) atomicOr(&s.ctl->overflow, HALT_OVERLAP);
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) impulse.at[d][i] = (double)sum[d];
}

template <class T>
md_status launch_force_all(const launch &l, md_pair_kind kind, const system_view<T> &s,
                           double *const impulse[3], bool step)
{
  const component_arrays<double> arrays = arrays_of(impulse);
  const int blocks = blocks_for(s.n, TILE);
  const bool known = with_style(
      kind, [&](auto style) { k_force_all<T, style.value><<<blocks, TILE, 0, l.stream>>>(s, arrays, step); });
  if (!known)
    for (int d = 0; d < T::DIM; ++d)
      MD_CUDA(cudaMemsetAsync(impulse[d], 0, (size_t)s.n * sizeof(double), l.stream));
  MD_LAUNCHED("k_force_all");
  return MD_OK;
}

template <class T, int STYLE>
static __global__ void __launch_bounds__(TILE)
    k_measure_all(const __grid_constant__ system_view<T> s, const __grid_constant__ measure_args a)
{
  if (s.n == 0) return;
  const typename T::record *x = present(s);
  const int i = blockIdx.x * TILE + threadIdx.x;
  const typename T::record xi = x[min(i, s.n - 1)];
  md_fine sum[SUMS] = {};
  for_each_particle<T>(s, x, i, [&](int, const typename T::record &xj) {
    double delta[3];
    const double r2 = nearest_image<T>(s, xi, xj, delta);
    if (i < s.n) add_pair<T, STYLE>(s, a, r2, pair_of<T>(s, xi, xj), 1, sum);
  });
  add_sums(a, sum);
}

template <class T>
md_status launch_measure_all(const launch &l, md_pair_kind kind, const system_view<T> &s,
                             const measure_args &a)
{
  const int blocks = blocks_for(s.n, TILE);
  const bool known = with_style(
      kind, [&](auto style) { k_measure_all<T, style.value><<<blocks, TILE, 0, l.stream>>>(s, a); });
  if (!known) return MD_OK;
  MD_LAUNCHED("k_measure_all");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_force_all<T>(const launch &, md_pair_kind, const system_view<T> &,               \
                                         double *const[3], bool);                                            \
  template md_status launch_measure_all<T>(const launch &, md_pair_kind, const system_view<T> &,             \
                                           const measure_args &);
INSTANCE(exact2_tagged)
INSTANCE(exact3_tagged)
