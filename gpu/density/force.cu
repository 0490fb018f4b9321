/* Pair styles with a density: the density at each particle, and then the impulses (common/pair/eam.h).
 *
 *   1. k_densities: one thread sums the density at one particle, in whole quanta, and finds the slope F' there.
 *   2. Ghosts get the slopes of their sources: k_image_slopes on one rank, messages on several (ranks/halo.inc).
 *   3. k_density_force: one thread sums the impulses on one particle.
 *
 * Trade-off: every pair is evaluated four times, twice in each pass, and no thread writes the sum of another one.
 * Cost: 8 bytes a particle and a ghost, and in each pass a walk through the list.
 */
#include "gpu/density/density.cuh"

template <class T, int SOURCE>
static __global__ void __launch_bounds__(256)
    k_densities(const __grid_constant__ system_view<T> s, const __grid_constant__ density_args a)
{
  if (a.step && idle(progress_before(s.ctl, s.launch))) return;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const typename T::record *x = present(s), xi = load_record(x + i);
  const int element = element_of<T>(a, xi);
  int64_t count = 0;
  for_each_partner<T, SOURCE>(s, x, i, [&](int, const typename T::record &xj) {
    count += density_term<T, SOURCE>(s, a, element, xi, xj);
  });
  double slope;
  (void)md_eam_embedding(&a.eam, element, count, &slope);
  a.slope[i] = slope;
}

template <class T>
static __global__ void __launch_bounds__(256)
    k_image_slopes(const __grid_constant__ system_view<T> s, double *slope)
{
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g < min(s.ghost.start[s.grid.total], s.ghost.capacity)) slope[s.n + g] = slope[s.ghost.source[g]];
}

struct impulse_arrays {
  double *at[3];
};

template <class T, int SOURCE>
static __global__ void __launch_bounds__(256)
    k_density_force(const __grid_constant__ system_view<T> s, const __grid_constant__ density_args a,
                    impulse_arrays impulse)
{
  if (a.step && idle(progress_before(s.ctl, s.launch))) return;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const typename T::record *x = present(s), xi = load_record(x + i);
  int64_t sum[3] = {0, 0, 0};
  for_each_partner<T, SOURCE>(s, x, i, [&](int j, const typename T::record &xj) {
    double delta[3], r2;
    const md_density_pair pair = density_force<T, SOURCE>(s, a, i, xi, j, xj, delta, &r2);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) sum[d] += (int64_t)md_round_product(pair.f, delta[d]);
  });
#pragma unroll
  for (int d = 0; d < T::DIM; ++d) impulse.at[d][i] = (double)sum[d];
}

template <class T>
md_status launch_densities(const launch &l, int source, const system_view<T> &s, const density_args &a)
{
  with_source<T>(source, [&](auto from) {
    k_densities<T, from.value><<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(s, a);
  });
  MD_LAUNCHED("k_densities");
  return MD_OK;
}

template <class T> md_status launch_image_slopes(const launch &l, const system_view<T> &s, double *slope)
{
  k_image_slopes<T><<<blocks_for(s.ghost.capacity, l.threads), l.threads, 0, l.stream>>>(s, slope);
  MD_LAUNCHED("k_image_slopes");
  return MD_OK;
}

template <class T>
md_status launch_density_force(const launch &l, int source, const system_view<T> &s, const density_args &a,
                               double *const impulse[3])
{
  const impulse_arrays to = {{impulse[0], impulse[1], impulse[2]}};
  with_source<T>(source, [&](auto from) {
    k_density_force<T, from.value><<<blocks_for(s.n, l.threads), l.threads, 0, l.stream>>>(s, a, to);
  });
  MD_LAUNCHED("k_density_force");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_densities<T>(const launch &, int, const system_view<T> &, const density_args &); \
  template md_status launch_image_slopes<T>(const launch &, const system_view<T> &, double *);               \
  template md_status launch_density_force<T>(const launch &, int, const system_view<T> &,                    \
                                             const density_args &, double *const[3]);
MD_DENSITY_LAYOUTS(INSTANCE)
