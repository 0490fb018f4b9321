/* Dissipative pair styles: energies, virials and forces for output. States are those of the present positions
 * (force.cu). Every pair is evaluated once more, from both of its particles, as in gpu/output/measure.cu.
 *
 * Cost: about that of the forces of a step.
 */
#include "gpu/dissipative/dissipative.cuh"
#include "gpu/dissipative/launches.cuh"
#include "gpu/output/launches.cuh"
#include "gpu/output/measure.cuh"

constexpr int BLOCK = 128;

template <class T, int SOURCE, bool HYBRID>
static __global__ void __launch_bounds__(BLOCK)
    k_dissipative_measure(const __grid_constant__ system_view<T> s,
                          const __grid_constant__ dissipation_args a, const __grid_constant__ measure_args m)
{
  md_fine sum[SUMS] = {};
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n) {
    const typename T::record *x = present(s), xi = x[i];
    const pair_state own = load_state(a.state + i);
    for_each_partner<T, SOURCE>(s, x, i, [&](int j, const typename T::record &xj) {
      double delta[3], r2;
      const md_pair_term pair =
          dissipative_output<T, SOURCE, HYBRID>(s, a, m.table, own, xi, j, xj, delta, &r2);
      md_fine_add(&sum[SUM_ENERGY], pair.energy * m.per_e);
      md_fine_add(&sum[SUM_VIRIAL], pair.f * r2 * m.per_w);
    });
  }
  add_sums(m, sum);
}

template <class T, int SOURCE, bool HYBRID>
static __global__ void __launch_bounds__(BLOCK)
    k_dissipative_tensor(const __grid_constant__ system_view<T> s, const __grid_constant__ dissipation_args a,
                         const __grid_constant__ tensor_args t)
{
  md_fine sum[MD_TENSOR] = {};
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n) {
    const typename T::record *x = present(s), xi = x[i];
    const pair_state own = load_state(a.state + i);
    for_each_partner<T, SOURCE>(s, x, i, [&](int j, const typename T::record &xj) {
      double delta[3], r2;
      const md_pair_term pair =
          dissipative_output<T, SOURCE, HYBRID>(s, a, t.table, own, xi, j, xj, delta, &r2);
      add_components<T>(pair.f, delta, t.per_w, sum);
    });
  }
  for (int c = 0; c < MD_TENSOR; ++c) add_sum(t.sum, c, MD_TENSOR, sum[c]);
}

template <class T, int SOURCE, bool HYBRID>
static __global__ void __launch_bounds__(BLOCK)
    k_dissipative_output(const __grid_constant__ system_view<T> s, const __grid_constant__ dissipation_args a,
                         const __grid_constant__ output_force_args o)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const typename T::record *x = present(s), xi = x[i];
  const pair_state own = load_state(a.state + i);
  md_fine sum[3] = {};
  for_each_partner<T, SOURCE>(s, x, i, [&](int j, const typename T::record &xj) {
    double delta[3], r2;
    const md_pair_term pair =
        dissipative_output<T, SOURCE, HYBRID>(s, a, o.table, own, xi, j, xj, delta, &r2);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) md_fine_add(&sum[d], pair.f * delta[d]);
  });
  store_force<T>(o, i, sum);
}

template <class T>
md_status launch_dissipative_measure(const launch &l, int source, const system_view<T> &s,
                                     const dissipation_args &a, const measure_args &m)
{
  with_source_and_styles<T>(source, a.hybrid, [&](auto from, auto hybrid) {
    k_dissipative_measure<T, from.value, hybrid.value>
        <<<blocks_for(s.n, BLOCK), BLOCK, 0, l.stream>>>(s, a, m);
  });
  MD_LAUNCHED("k_dissipative_measure");
  return MD_OK;
}

template <class T>
md_status launch_dissipative_tensor(const launch &l, int source, const system_view<T> &s,
                                    const dissipation_args &a, const tensor_args &t)
{
  with_source_and_styles<T>(source, a.hybrid, [&](auto from, auto hybrid) {
    k_dissipative_tensor<T, from.value, hybrid.value>
        <<<blocks_for(s.n, BLOCK), BLOCK, 0, l.stream>>>(s, a, t);
  });
  MD_LAUNCHED("k_dissipative_tensor");
  return MD_OK;
}

template <class T>
md_status launch_dissipative_output(const launch &l, int source, const system_view<T> &s,
                                    const dissipation_args &a, const output_force_args &o)
{
  with_source_and_styles<T>(source, a.hybrid, [&](auto from, auto hybrid) {
    k_dissipative_output<T, from.value, hybrid.value>
        <<<blocks_for(s.n, BLOCK), BLOCK, 0, l.stream>>>(s, a, o);
  });
  MD_LAUNCHED("k_dissipative_output");
  return MD_OK;
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_dissipative_measure<T>(const launch &, int, const system_view<T> &,              \
                                                   const dissipation_args &, const measure_args &);          \
  template md_status launch_dissipative_tensor<T>(const launch &, int, const system_view<T> &,               \
                                                  const dissipation_args &, const tensor_args &);            \
  template md_status launch_dissipative_output<T>(const launch &, int, const system_view<T> &,               \
                                                  const dissipation_args &, const output_force_args &);
INSTANCE(exact2_tagged)
INSTANCE(exact3_tagged)
