/* Three-body pair styles: energies, virials and forces for output. What particles keep is that of the present positions
 * (force.cu). Every pair is evaluated once more, from both of its particles, as in gpu/output/measure.cu.
 *
 * Trade-off: the sums over legs are made again for the energy of a centre, so that no array holds energies.
 * Cost: about that of both passes of a step.
 */
#include "common/pair/tables/density.h"
#include "gpu/output/launches.cuh"
#include "gpu/output/measure.cuh"
#include "gpu/three_body/launches.cuh"
#include "gpu/three_body/three_body.cuh"

constexpr int BLOCK = 128;

template <class T, int SOURCE>
static __global__ void __launch_bounds__(BLOCK)
    k_three_measure(const __grid_constant__ system_view<T> s, const __grid_constant__ three_body_args a,
                    const __grid_constant__ measure_args m)
{
  md_fine sum[SUMS] = {};
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n) {
    const typename T::record *x = present(s), xi = x[i];
    const int element = element_of<T>(a, xi);
    double kept[MD_THREE_SUMS];
    int64_t legs[MD_THREE_SUMS] = {};
    load_kept(a, i, kept);
    for_each_partner<T, SOURCE>(s, x, i, [&](int j, const typename T::record &xj) {
      double delta[3];
      const md_vector_term term = vector_output<T, SOURCE>(s, a, element, kept, xi, j, xj, delta);
      add_leg<T, SOURCE>(s, a, element, xi, xj, legs);
      md_fine_add(&sum[SUM_ENERGY], term.energy * m.per_e);
      md_fine_add(&sum[SUM_VIRIAL], md_vector_virial(&term, delta, T::DIM) * m.per_w);
    });
    const md_fine centre = md_embedding_twice(md_three_centre(&a.three, element, legs, kept), m.per_e);
    sum[SUM_ENERGY].coarse += centre.coarse;
    sum[SUM_ENERGY].rest += centre.rest;
  }
  add_sums(m, sum);
}

template <class T, int SOURCE>
static __global__ void __launch_bounds__(BLOCK)
    k_three_tensor(const __grid_constant__ system_view<T> s, const __grid_constant__ three_body_args a,
                   const __grid_constant__ tensor_args t)
{
  md_fine sum[MD_TENSOR] = {};
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n) {
    const typename T::record *x = present(s), xi = x[i];
    const int element = element_of<T>(a, xi);
    double kept[MD_THREE_SUMS];
    load_kept(a, i, kept);
    for_each_partner<T, SOURCE>(s, x, i, [&](int j, const typename T::record &xj) {
      double delta[3];
      const md_vector_term term = vector_output<T, SOURCE>(s, a, element, kept, xi, j, xj, delta);
#pragma unroll
      for (int c = 0; c < MD_TENSOR; ++c)
        if (md_tensor_column(c) < T::DIM)
          md_fine_add(&sum[c], term.f[md_tensor_row(c)] * delta[md_tensor_column(c)] * t.per_w);
    });
  }
  for (int c = 0; c < MD_TENSOR; ++c) add_sum(t.sum, c, MD_TENSOR, sum[c]);
}

template <class T, int SOURCE>
static __global__ void __launch_bounds__(BLOCK)
    k_three_output(const __grid_constant__ system_view<T> s, const __grid_constant__ three_body_args a,
                   const __grid_constant__ output_force_args o)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.n) return;
  const typename T::record *x = present(s), xi = x[i];
  const int element = element_of<T>(a, xi);
  double kept[MD_THREE_SUMS];
  md_fine sum[3] = {};
  load_kept(a, i, kept);
  for_each_partner<T, SOURCE>(s, x, i, [&](int j, const typename T::record &xj) {
    double delta[3];
    const md_vector_term term = vector_output<T, SOURCE>(s, a, element, kept, xi, j, xj, delta);
#pragma unroll
    for (int d = 0; d < T::DIM; ++d) md_fine_add(&sum[d], term.f[d]);
  });
  store_force<T>(o, i, sum);
}

template <class T>
md_status launch_three_measure(const launch &l, int source, const system_view<T> &s, const three_body_args &a,
                               const measure_args &m)
{
  return launch_from(
      l, BLOCK, source, "launch of k_three_measure", [](auto from) { return k_three_measure<T, from.value>; },
      s, a, m);
}

template <class T>
md_status launch_three_tensor(const launch &l, int source, const system_view<T> &s, const three_body_args &a,
                              const tensor_args &t)
{
  return launch_from(
      l, BLOCK, source, "launch of k_three_tensor", [](auto from) { return k_three_tensor<T, from.value>; },
      s, a, t);
}

template <class T>
md_status launch_three_output(const launch &l, int source, const system_view<T> &s, const three_body_args &a,
                              const output_force_args &o)
{
  return launch_from(
      l, BLOCK, source, "launch of k_three_output", [](auto from) { return k_three_output<T, from.value>; },
      s, a, o);
}

#define INSTANCE(T)                                                                                          \
  template md_status launch_three_measure<T>(const launch &, int, const system_view<T> &,                    \
                                             const three_body_args &, const measure_args &);                 \
  template md_status launch_three_tensor<T>(const launch &, int, const system_view<T> &,                     \
                                            const three_body_args &, const tensor_args &);                   \
  template md_status launch_three_output<T>(const launch &, int, const system_view<T> &,                     \
                                            const three_body_args &, const output_force_args &);
MD_EXACT_TAGGED_LAYOUTS(INSTANCE)
