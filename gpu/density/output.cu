/* Pair styles with a density: energies, virials and forces for output. Slopes are those of the present positions
 * (force.cu). Every pair is evaluated once more, from both of its particles, as in gpu/output/measure.cu.
 *
 * Trade-off: the density is summed again for the energy of the embedding, so that no array holds energies.
 * Cost: about that of both passes of a step.
 */
#include "gpu/density/density.cuh"
#include "gpu/density/launches.cuh"
#include "gpu/output/launches.cuh"
#include "gpu/output/measure.cuh"

constexpr int BLOCK = 128;

template <class T, int SOURCE>
static __global__ void __launch_bounds__(BLOCK)
    k_density_measure(const __grid_constant__ system_view<T> s, const __grid_constant__ density_args a,
                      const __grid_constant__ measure_args m)
{
  md_fine sum[SUMS] = {};
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n) {
    const typename T::record *x = present(s), xi = x[i];
    const int element = element_of<T>(a, xi);
    int64_t count = 0;
    for_each_partner<T, SOURCE>(s, x, i, [&](int j, const typename T::record &xj) {
      double delta[3], r2;
      const md_pair_term pair = density_force<T, SOURCE>(s, a, i, xi, j, xj, delta, &r2);
      count += md_density_term(&a.eam, element, element_of<T>(a, xj), r2);
      md_fine_add(&sum[SUM_ENERGY], pair.energy * m.per_e);
      md_fine_add(&sum[SUM_VIRIAL], pair.f * r2 * m.per_w);
    });
    double slope;
    const md_fine embedding = md_embedding_twice(md_eam_embedding(&a.eam, element, count, &slope), m.per_e);
    sum[SUM_ENERGY].coarse += embedding.coarse;
    sum[SUM_ENERGY].rest += embedding.rest;
  }
  add_sums(m, sum);
}

template <class T, int SOURCE>
static __global__ void __launch_bounds__(BLOCK)
    k_density_tensor(const __grid_constant__ system_view<T> s, const __grid_constant__ density_args a,
                     const __grid_constant__ tensor_args t)
{
  md_fine sum[MD_TENSOR] = {};
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n) {
    const typename T::record *x = present(s), xi = x[i];
    for_each_partner<T, SOURCE>(s, x, i, [&](int j, const typename T::record &xj) {
      double delta[3], r2;
      const md_pair_term pair = density_force<T, SOURCE>(s, a, i, xi, j, xj, delta, &r2);
      add_components<T>(pair.f, delta, t.per_w, sum);
    });
  }
  for (int c = 0; c < MD_TENSOR; ++c) add_sum(t.sum, c, MD_TENSOR, sum[c]);
}

template <class T, int SOURCE>
static __global__ void __launch_bounds__(BLOCK)
    k_density_output(const __grid_constant__ system_view<T> s, const __grid_constant__ density_args a,
                     const __grid_constant__ output_force_args o)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const typename T::record *x = present(s), xi = x[i];
  md_fine sum[3] = {};
  for_each_partner<T, SOURCE>(s, x, i, [&](int j, const typename T::record &xj) {
    double delta[3], r2;
    const md_pair_term pair = density_force<T, SOURCE>(s, a, i, xi, j, xj, delta, &r2);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) md_fine_add(&sum[d], pair.f * delta[d]);
  });
  store_force<T>(o, i, sum);
}

template <class T>
md_status launch_density_measure(const launch &l, int source, const system_view<T> &s, const density_args &a,
                                 const measure_args &m)
{
  return launch_from(
      l, BLOCK, source, "launch of k_density_measure",
      [](auto from) { return k_density_measure<T, from.value>; }, s, a, m);
}

template <class T>
md_status launch_density_tensor(const launch &l, int source, const system_view<T> &s, const density_args &a,
                                const tensor_args &t)
{
  return launch_from(
      l, BLOCK, source, "launch of k_density_tensor",
      [](auto from) { return k_density_tensor<T, from.value>; }, s, a, t);
}

template <class T>
md_status launch_density_output(const launch &l, int source, const system_view<T> &s, const density_args &a,
                                const output_force_args &o)
{
  return launch_from(
      l, BLOCK, source, "launch of k_density_output",
      [](auto from) { return k_density_output<T, from.value>; }, s, a, o);
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_density_measure<T>(const launch &, int, const system_view<T> &,                  \
                                               const density_args &, const measure_args &);                  \
  template md_status launch_density_tensor<T>(const launch &, int, const system_view<T> &,                   \
                                              const density_args &, const tensor_args &);                    \
  template md_status launch_density_output<T>(const launch &, int, const system_view<T> &,                   \
                                              const density_args &, const output_force_args &);
MD_EXACT_TAGGED_LAYOUTS(INSTANCE)
