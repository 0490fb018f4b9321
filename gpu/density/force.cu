/* Pair styles with a density: the density at each particle, and then the impulses (common/pair/tables/eam.h).
 *
 *   1. k_densities: one thread sums the density at one particle, in whole quanta, and finds the slope F' there.
 *   2. Ghosts get the slopes of their sources: k_image_values on one rank, messages on several (gpu/ranks/halo.inc).
 *   3. k_density_force: one thread sums the impulses on one particle.
 *
 * Each lane of a warp reads another row of the tables. Through the cache that takes a cycle for each lane and load,
 * which was 98 % of a force kernel's time. So tables that are small enough are copied to shared memory (tables.cuh),
 * and blocks walk through the particles, so that there are few copies.
 *
 * Trade-off: every pair is evaluated four times, twice in each pass, and no thread writes the sum of another one.
 * Cost: 8 bytes a particle and a ghost, and in each pass a walk through the list.
 */
#include "gpu/density/density.cuh"
#include "gpu/density/launches.cuh"
#include "gpu/density/tables.cuh"

#include <algorithm>

template <class T, int SOURCE, class TABLES>
static __global__ void __launch_bounds__(TABLES::THREADS, TABLES::DENSITY_BLOCKS)
    k_densities(const __grid_constant__ system_view<T> s, const __grid_constant__ density_args a)
{
  if (a.step && idle(progress_before(s.ctl, s.launch))) return;
  const TABLES tables(a.eam, a.eam.density, MD_SPLINE);
  const int stride = gridDim.x * blockDim.x;
  const typename T::record *x = present(s);
  for (int64_t k = blockIdx.x * blockDim.x + threadIdx.x; k < s.n; k += stride) {
    const int i = (int)k;
    const typename T::record xi = load_record(x + i);
    const int element = element_of<T>(a, xi);
    int64_t count = 0;
    for_each_partner<T, SOURCE>(s, x, i, [&](int, const typename T::record &xj) {
      double delta[3];
      const double r2 = partner_separation<T, SOURCE>(s, xi, xj, delta);
      const int other = element_of<T>(a, xj);
      if (!(r2 < a.eam.cutoff2) || md_eam_overlaps(&a.eam, element, other, r2)) return;
      const md_eam_point at = md_eam_point_of(&a.eam, r2);
      count += md_eam_density_at(&a.eam, tables.density(element, other, at.row), at.p);
    });
    double slope;
    (void)md_eam_embedding(&a.eam, element, count, &slope);
    a.slope[i] = slope;
  }
}

template <class T, int SOURCE, class TABLES>
static __global__ void __launch_bounds__(TABLES::THREADS, TABLES::FORCE_BLOCKS)
    k_density_force(const __grid_constant__ system_view<T> s, const __grid_constant__ density_args a,
                    component_arrays<double> impulse)
{
  if (a.step && idle(progress_before(s.ctl, s.launch))) return;
  const TABLES tables(a.eam, a.eam.force, MD_SPLINE_ROW);
  const int stride = gridDim.x * blockDim.x;
  const typename T::record *x = present(s);
  const double *__restrict__ slopes = a.slope;
  for (int64_t k = blockIdx.x * blockDim.x + threadIdx.x; k < s.n; k += stride) {
    const int i = (int)k;
    const typename T::record xi = load_record(x + i);
    const int element = element_of<T>(a, xi);
    const double slope = __ldg(slopes + i);
    int64_t sum[3] = {0, 0, 0};
    bool overlap = false;
    for_each_partner<T, SOURCE>(s, x, i, [&](int j, const typename T::record &xj) {
      double delta[3], energy;
      const double r2 = partner_separation<T, SOURCE>(s, xi, xj, delta);
      if (!(r2 < a.eam.cutoff2)) return;
      const md_eam_point at = md_eam_point_of(&a.eam, r2);
      const int other = element_of<T>(a, xj);
      const double force = md_eam_force_at(&a.eam, tables.force(element, other, at.row), at, slope,
                                           __ldg(slopes + j), &energy);
      const md_pair_term pair = md_pair_term_of(force, energy, delta, T::DIM, a.scale);
      if (pair.overlap || md_eam_overlaps(&a.eam, element, other, r2)) {
        overlap = true;
        return;
      }
#pragma unroll
      for (int d = 0; d < T::DIM; ++d) sum[d] += (int64_t)md_round_product(pair.f, delta[d]);
    });
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) impulse.at[d][i] = (double)sum[d];
    if (overlap) atomicOr(&s.ctl->overflow, HALT_OVERLAP);
  }
}

/* How a pass is launched. */
struct pass_launch {
  int blocks, threads;
  size_t shared; /* bytes of shared memory */
};

/* Calls f(source, tables, launch) for tables whose rows have these numbers: source.value is the source of neighbours
 * and decltype(tables)::type the class of tables, as constants. most: blocks of staged tables on a multiprocessor. */
template <class T, class F>
static void with_tables(const launch &l, int source, const system_view<T> &s, const md_eam &eam, int numbers,
                        int most, F &&f)
{
  const size_t bytes = (size_t)eam.nelement * eam.nelement * eam.nr * numbers * sizeof(double);
  with_source<T>(source, [&](auto from) {
    if (bytes <= std::min((size_t)staged_tables::MOST_BYTES, l.most_shared)) {
      const int blocks = blocks_for(s.n, staged_tables::THREADS);
      f(from, tables_of<staged_tables>{},
        pass_launch{std::min(blocks, most * l.processors), staged_tables::THREADS, bytes});
    } else {
      f(from, tables_of<cached_tables>{},
        pass_launch{blocks_for(s.n, cached_tables::THREADS), cached_tables::THREADS, 0});
    }
  });
}

template <class T>
md_status launch_densities(const launch &l, int source, const system_view<T> &s, const density_args &a)
{
  md_status status = MD_OK;
  with_tables<T>(l, source, s, a.eam, MD_SPLINE, staged_tables::DENSITY_BLOCKS,
                 [&](auto from, auto of, pass_launch by) {
                   typedef typename decltype(of)::type TABLES;
                   status = allow_shared(k_densities<T, from.value, TABLES>, by.shared);
                   if (!status)
                     k_densities<T, from.value, TABLES><<<by.blocks, by.threads, by.shared, l.stream>>>(s, a);
                 });
  MD_TRY(status);
  MD_LAUNCHED("k_densities");
  return MD_OK;
}

template <class T>
md_status launch_density_force(const launch &l, int source, const system_view<T> &s, const density_args &a,
                               double *const impulse[3])
{
  const component_arrays<double> to = arrays_of(impulse);
  md_status status = MD_OK;
  with_tables<T>(l, source, s, a.eam, MD_SPLINE_ROW, staged_tables::FORCE_BLOCKS,
                 [&](auto from, auto of, pass_launch by) {
                   typedef typename decltype(of)::type TABLES;
                   status = allow_shared(k_density_force<T, from.value, TABLES>, by.shared);
                   if (!status)
                     k_density_force<T, from.value, TABLES>
                         <<<by.blocks, by.threads, by.shared, l.stream>>>(s, a, to);
                 });
  MD_TRY(status);
  MD_LAUNCHED("k_density_force");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_densities<T>(const launch &, int, const system_view<T> &, const density_args &); \
  template md_status launch_density_force<T>(const launch &, int, const system_view<T> &,                    \
                                             const density_args &, double *const[3]);
MD_EXACT_TAGGED_LAYOUTS(INSTANCE)
